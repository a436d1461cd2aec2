import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openCgroup } from '@svc/service-kit/process/cgroup.ts';
import { processesIn } from '@svc/testing/model-server/find-processes.ts';
import { createGate } from '@svc/testing/model-server/gate.ts';
import type { ScriptedStep } from '@svc/testing/model-server/scripted-reply.ts';
import { startModelServer } from '@svc/testing/model-server/start-model-server.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import type { CreateEngine } from '../engine.ts';
import { collectTurn, ofType } from './collect-turn.ts';
import { hello, type EngineBench } from './engine-bench.ts';
import { engineDeps } from './engine-deps.ts';
import { engineRequest } from './engine-request.ts';
import { signalIfThere } from '@svc/service-kit/process/signal-process.ts';

export type EngineLife = {
  /** The engine's `src/engine.ts`. */
  module: string;
  /** Ids of the engine's programs, found by the engine's state folder or the turn's folder. */
  programs(place: { stateDir: string; cwd: string }): number[];
  /** The model's tool call that runs a command. */
  shell(command: string): ScriptedStep;
  /** The model's tool call that runs a command which continues after its turn; omitted when the engine has none. */
  background?: (command: string) => ScriptedStep;
  /** What a model request with an image contains. */
  imagePart: string;
  /** Longest duration of a turn when the model's endpoint does not exist, ms. */
  deadEndpointMs: number;
};

const trial = openCgroup();
/** Without control groups, such a program is found only by its environment. */
const canContain = trial !== null;
await trial?.close();

/** An image of one pixel. */
const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

/** Rules for the processes of every engine that drives a program, and for what it depends on. Call it in a `describe`. */
export function testEngineLife(bench: EngineBench, life: EngineLife): void {
  const { module, programs, shell, background, imagePart, deadEndpointMs } = life;
  const { model, start, dir, install } = bench;

  test('a program that dies in the middle of a turn is a failed turn, and the session goes on', async () => {
    const { engine, stateDir, request } = start();
    model.script(() => hello);
    const { sessionId: resume } = await collectTurn(engine, engineRequest({ prompt: 'one', ...request }));
    model.script(() => ({ steps: [{ text: ['a ', createGate()] }] }));
    const onEvent = ({ type }: { type: string }) => {
      if (type === 'delta') for (const pid of programs({ stateDir, ...request })) signalIfThere(pid, 'SIGKILL');
    };
    const killed = await collectTurn(engine, engineRequest({ prompt: 'two', ...request, resume }), { onEvent });
    expect(killed.last, JSON.stringify(killed.events)).toMatchObject({
      type: 'failed',
      failure: { code: 'engine_crashed', retryable: true },
    });
    model.script(() => hello);
    const next = await collectTurn(engine, engineRequest({ prompt: 'three', ...request, resume }));
    expect(next).toMatchObject({ text: 'hello', sessionId: resume, last: { type: 'done' } });
  });

  test('when the service is killed the programs go too', async () => {
    const { stateDir, request } = start();
    model.script(() => ({ steps: [{ text: ['a ', createGate()] }] }));
    const host = path.join(dir, 'host.ts');
    writeFileSync(
      host,
      `import { createEngine } from ${JSON.stringify(module)};
       const { deps, request } = JSON.parse(process.argv[2]);
       const engine = createEngine({ ...deps, log: { debug() {}, info() {}, warn() {} } });
       for await (const event of engine.run(request, new AbortController().signal)) if (event.type === 'delta') console.log('streaming');`,
    );
    const deps = engineDeps({ stateDir, path: install, baseUrl: model.url });
    const child = spawn(
      process.execPath,
      [host, JSON.stringify({ deps, request: engineRequest({ prompt: 'go', ...request }) })],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    await new Promise((resolve) => child.stdout.once('data', resolve));
    expect(programs({ stateDir, ...request })).toHaveLength(1);
    child.kill('SIGKILL');
    await expect.poll(() => programs({ stateDir, ...request })).toEqual([]);
  });

  test('an endpoint that is away is a failed turn within seconds', async () => {
    const gone = await startModelServer();
    await gone.close();
    const { engine, request } = start({ baseUrl: gone.url });
    const before = performance.now();
    const { last } = await collectTurn(engine, engineRequest({ prompt: 'hi', ...request }));
    expect(last).toMatchObject({
      type: 'failed',
      failure: {
        code: 'engine_endpoint_down',
        retryable: true,
        message: expect.stringMatching(/ECONNREFUSED|ConnectionRefused/),
      },
    });
    expect(performance.now() - before).toBeLessThan(deadEndpointMs);
  });

  test('a command left in the background ends with its turn, and a program in a session of its own with the turn or with the program that started it', async () => {
    const { engine, request } = start();
    const left = background === undefined ? [] : [background('sleep 4323')];
    const own = shell('setsid sleep 4321 > /dev/null 2>&1 < /dev/null & sleep 0.2; echo STARTED');
    model.script([...left.map((step) => ({ steps: [step] })), { steps: [own] }, hello]);
    const { events, last } = await collectTurn(engine, engineRequest({ prompt: 'go', ...request }));
    expect(last).toEqual({ type: 'done' });
    expect(ofType(events, 'tool_result').at(-1)?.output).toContain('STARTED');
    await expect.poll(() => processesIn(request.cwd, 'sleep 4323')).toEqual([]);
    await engine.close();
    expect(sleepers(request.cwd)).toEqual([]);
  });

  const escape = "(setsid env -i /bin/sh -c 'sleep 4321 &' > /dev/null 2>&1 < /dev/null &)";
  const escaped = (cwd: string) => processesIn(cwd, '^sleep 4321$');

  test.runIf(canContain)(
    'a program that has given up its session, its parent and its environment ends with the turn, by reply',
    async () => {
      const { engine, request } = start();
      const seen = createGate();
      model.script((asked) => ({ steps: [asked.toolResults.length > 0 ? { text: [seen, 'hello'] } : shell(escape)] }));
      const turn = collectTurn(engine, engineRequest({ prompt: 'go', ...request }));
      await expect.poll(() => escaped(request.cwd)).toHaveLength(1);
      seen.open();
      expect((await turn).last).toEqual({ type: 'done' });
      await expect.poll(() => escaped(request.cwd)).toEqual([]);
    },
  );

  test(`an abort ends a command that runs${canContain ? ', and a program of it that has given up its session, its parent and its environment' : ''}`, async () => {
    const { engine, request } = start();
    const command = canContain ? `${escape}; sleep 4322` : 'sleep 4322';
    model.script((asked) => (asked.toolResults.length > 0 ? hello : { steps: [shell(command)] }));
    const controller = new AbortController();
    const turn = collectTurn(engine, engineRequest({ prompt: 'go', ...request }), { signal: controller.signal });
    const running = () => processesIn(request.cwd, '^sleep 4322$');
    await expect.poll(running).toHaveLength(1);
    if (canContain) await expect.poll(() => escaped(request.cwd)).toHaveLength(1);
    controller.abort();
    expect((await turn).last).toEqual({ type: 'aborted' });
    await expect.poll(() => [...running(), ...escaped(request.cwd)]).toEqual([]);
  });

  test('a persona that changed reaches a session that exists, in every policy', async () => {
    const { engine, request } = start();
    model.script(() => hello);
    let resume: string | null = null;
    for (const toolPolicy of ['full', 'none', 'read'] as const) {
      const system = `You are the ${toolPolicy} PERSONA of bob@example.com.`;
      const turn = await collectTurn(engine, engineRequest({ prompt: 'hi', ...request, system, toolPolicy, resume }));
      const asked = JSON.stringify(model.requests.at(-1)?.body);
      // An engine that keeps earlier instructions in its history puts the valid one last.
      expect(asked.match(/the \w+ PERSONA of bob@example.com/g)?.at(-1)).toBe(`the ${toolPolicy} PERSONA of bob@example.com`);
      expect(turn.sessionId).toBe(resume ?? turn.sessionId);
      resume = turn.sessionId;
    }
  });

  test('a tool server that is away gets a notice, and the turn goes on without it', async () => {
    const { engine, request } = start();
    model.script(() => hello);
    const toolServers = [{ name: 'gone', type: 'http' as const, url: 'http://127.0.0.1:9/mcp', headers: {}, safe: true }];
    const { events, last } = await collectTurn(engine, engineRequest({ prompt: 'hi', ...request, toolServers }));
    expect(last).toEqual({ type: 'done' });
    expect(ofType(events, 'notice')).toMatchObject([{ code: 'tool_server_missing', message: expect.stringContaining('gone') }]);
  });

  test('an image is shown to the model', async () => {
    const { engine, request } = start();
    const image = path.join(request.cwd, 'dot.png');
    writeFileSync(image, Buffer.from(dot, 'base64'));
    model.script(() => hello);
    const { last } = await collectTurn(
      engine,
      engineRequest({ prompt: 'what is it?', ...request, attachments: [{ path: image, mime: 'image/png' }] }),
    );
    expect(last).toEqual({ type: 'done' });
    expect(JSON.stringify(model.requests.at(-1)?.body)).toContain(imagePart);
  });
}

/** Rules for an engine that is not installed. It needs no program, so call it outside the `describe` of those that do. */
export function testMissingEngine(id: string, createEngine: CreateEngine): void {
  test('an engine that is not there is a failed turn that says where it was looked for', async () => {
    const folder = temporaryFolder();
    const stateDir = folder.path;
    onTestFinished(() => folder.remove());
    const engine = createEngine(engineDeps({ stateDir, path: `/nowhere/${id}` }));
    onTestFinished(() => engine.close());
    const { events } = await collectTurn(engine, engineRequest({ prompt: 'hi', cwd: stateDir }));
    expect(events).toMatchObject([
      { type: 'failed', failure: { code: 'engine_not_installed', message: expect.stringContaining(`/nowhere/${id}`) } },
    ]);
  });
}

/** Commands of a turn that must end with it. */
export const sleepers = (cwd: string): number[] => processesIn(cwd, 'sleep 4321');
