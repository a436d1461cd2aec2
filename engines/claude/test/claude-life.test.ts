import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import type { EngineDeps } from '@svc/engine-kit/engine.ts';
import { collectTurn, ofType } from '@svc/engine-kit/testing/collect-turn.ts';
import { engineDeps } from '@svc/engine-kit/testing/engine-deps.ts';
import { engineRequest } from '@svc/engine-kit/testing/engine-request.ts';
import { processesIn } from '@svc/testing/model-server/find-processes.ts';
import { createGate } from '@svc/testing/model-server/gate.ts';
import { startModelServer } from '@svc/testing/model-server/start-model-server.ts';
import { describeWithEngine } from '@svc/testing/model-server/test-engines.ts';
import { createEngine } from '../src/engine.ts';

describeWithEngine('claude', "the life of claude's programs", async (install) => {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'claude-life-'));
  const model = await startModelServer();
  afterAll(async () => {
    await model.close();
    rmSync(dir, { recursive: true, force: true });
  });

  const start = (fields: Partial<EngineDeps> = {}) => {
    const stateDir = mkdtempSync(path.join(dir, 'state-'));
    const engine = createEngine(engineDeps({ stateDir, path: install, baseUrl: model.url, ...fields }));
    onTestFinished(() => engine.close());
    return { engine, stateDir, request: { cwd: mkdtempSync(path.join(dir, 'cwd-')) } };
  };
  const hello = { steps: [{ text: 'hello' }] };

  test('the next turn of a conversation goes to the program that is open already', async () => {
    const { engine, request } = start();
    model.script(() => hello);
    const first = await collectTurn(engine, engineRequest({ prompt: 'one', ...request }));
    const [pid] = programs(request.cwd);
    await collectTurn(engine, engineRequest({ prompt: 'two', ...request, resume: first.sessionId }));
    expect(programs(request.cwd)).toEqual([pid]);
  });

  test('no more programs stay open than the settings say, and none after close', async () => {
    const { engine, request } = start({ warm: 1 });
    model.script(() => hello);
    await collectTurn(engine, engineRequest({ prompt: 'one', ...request, conversationKey: 'a' }));
    await collectTurn(engine, engineRequest({ prompt: 'two', ...request, conversationKey: 'b' }));
    await vi.waitFor(() => expect(programs(request.cwd)).toHaveLength(1), { timeout: 5000 });
    await engine.close();
    expect(programs(request.cwd)).toEqual([]);
  });

  test('a program that died between two turns is replaced, and the session goes on', async () => {
    const { engine, request } = start();
    model.script(() => hello);
    const first = await collectTurn(engine, engineRequest({ prompt: 'one', ...request }));
    for (const pid of programs(request.cwd)) process.kill(pid, 'SIGKILL');
    const second = await collectTurn(engine, engineRequest({ prompt: 'two', ...request, resume: first.sessionId }));
    expect(second).toMatchObject({ text: 'hello', sessionId: first.sessionId, last: { type: 'done' } });
  });

  test('a program that dies in the middle of a turn is a failed turn, and the session goes on', async () => {
    const { engine, request } = start();
    model.script(() => hello);
    const { sessionId: resume } = await collectTurn(engine, engineRequest({ prompt: 'one', ...request }));
    model.script(() => ({ steps: [{ text: ['a ', createGate()] }] }));
    const onEvent = ({ type }: { type: string }) => {
      if (type === 'delta') for (const pid of programs(request.cwd)) process.kill(pid, 'SIGKILL');
    };
    const killed = await collectTurn(engine, engineRequest({ prompt: 'two', ...request, resume }), { onEvent });
    expect(killed.last).toMatchObject({ type: 'failed', failure: { code: 'engine_crashed' } });
    model.script(() => hello);
    const next = await collectTurn(engine, engineRequest({ prompt: 'three', ...request, resume }));
    expect(next).toMatchObject({ text: 'hello', sessionId: resume, last: { type: 'done' } });
  });

  test('an abort ends a command that runs', async () => {
    const { engine, request } = start();
    model.script((asked) =>
      asked.toolResults.length > 0 ? hello : { steps: [{ tool: 'Bash', input: { command: 'sleep 4321', description: 'x' } }] },
    );
    const controller = new AbortController();
    const turn = collectTurn(engine, engineRequest({ prompt: 'go', ...request }), { signal: controller.signal });
    await vi.waitFor(() => expect(sleepers(request.cwd).length).toBeGreaterThan(0), { timeout: 10_000 });
    controller.abort();
    expect((await turn).last).toEqual({ type: 'aborted' });
    await vi.waitFor(() => expect(sleepers(request.cwd)).toEqual([]), { timeout: 5000 });
  });

  test('when the service is killed its programs go too', async () => {
    const { stateDir, request } = start();
    model.script(() => ({ steps: [{ text: ['a ', createGate()] }] }));
    const host = path.join(dir, 'host.ts');
    writeFileSync(
      host,
      `import { createEngine } from ${JSON.stringify(path.resolve(import.meta.dirname, '../src/engine.ts'))};
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
    expect(programs(request.cwd).length).toBeGreaterThan(0);
    child.kill('SIGKILL');
    await vi.waitFor(() => expect(programs(request.cwd)).toEqual([]), { timeout: 8000 });
  });

  test('a key that the settings of claude bring in is refused before the model is asked', async () => {
    const { engine, stateDir, request } = start({ baseUrl: null });
    mkdirSync(path.join(stateDir, '.claude'));
    const env = { ANTHROPIC_API_KEY: 'sk-ant-sneaked-in', ANTHROPIC_BASE_URL: model.url };
    writeFileSync(path.join(stateDir, '.claude/settings.json'), JSON.stringify({ env }));
    model.requests.length = 0;
    const { last } = await collectTurn(engine, engineRequest({ prompt: 'hi', ...request }));
    expect(last).toMatchObject({ type: 'failed', failure: { code: 'engine_api_key_refused' } });
    expect(model.requests).toEqual([]);
  });

  test('keys and secrets of the service do not reach the program; without a login the turn says so', async () => {
    const { engine, stateDir, request } = start({
      baseUrl: null,
      env: {
        PATH: process.env.PATH,
        HOME: mkdtempSync(path.join(dir, 'home-')),
        ANTHROPIC_API_KEY: 'sk-ant-x',
        SVC_INSIGHTS_TOKEN: 'hush',
      },
    });
    const { last } = await collectTurn(engine, engineRequest({ prompt: 'hi', ...request }));
    expect(last).toMatchObject({
      type: 'failed',
      failure: { code: 'engine_not_logged_in', message: expect.stringContaining('claude auth login') },
    });
    expect(await engine.probe()).toMatchObject({ installed: true, ready: false, auth: 'none' });
    const other = createEngine(
      engineDeps({
        stateDir,
        path: install,
        baseUrl: model.url,
        env: { PATH: process.env.PATH, SVC_INSIGHTS_TOKEN: 'hush', MY_SECRET: 'hush' },
      }),
    );
    onTestFinished(() => other.close());
    model.script([{ steps: [{ tool: 'Bash', input: { command: 'env', description: 'x' } }] }, hello]);
    const shown = await collectTurn(other, engineRequest({ prompt: 'hi', ...request }));
    expect(ofType(shown.events, 'tool_result')[0]?.output).toContain('PATH=');
    expect(ofType(shown.events, 'tool_result')[0]?.output).not.toContain('hush');
  });

  test('an endpoint that is away is a failed turn', async () => {
    const gone = await startModelServer();
    await gone.close();
    const { engine, request } = start({ baseUrl: gone.url });
    const { last } = await collectTurn(engine, engineRequest({ prompt: 'hi', ...request }));
    expect(last).toMatchObject({ type: 'failed', failure: { code: 'engine_endpoint_down', retryable: true } });
  });

  test('a tool server that is away is told, and the turn goes on without it', async () => {
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
    writeFileSync(
      image,
      Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==', 'base64'),
    );
    model.script(() => hello);
    await collectTurn(
      engine,
      engineRequest({ prompt: 'what is it?', ...request, attachments: [{ path: image, mime: 'image/png' }] }),
    );
    expect(JSON.stringify(model.requests.at(-1)?.body)).toContain('"type":"image"');
  });
});

test('an engine that is not there is a failed turn that says where it was looked for', async () => {
  const engine = createEngine(engineDeps({ stateDir: os.tmpdir(), path: '/nowhere/claude' }));
  const { events } = await collectTurn(engine, engineRequest({ prompt: 'hi', cwd: os.tmpdir() }));
  expect(events).toMatchObject([
    { type: 'failed', failure: { code: 'engine_not_installed', message: expect.stringContaining('/nowhere/claude') } },
  ]);
});

const programs = (cwd: string) => processesIn(cwd, 'claude .*--input-format stream-json');
const sleepers = (cwd: string) => processesIn(cwd, 'sleep 4321');
