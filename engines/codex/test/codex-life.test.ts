import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
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

describeWithEngine('codex', "the life of codex's app-server", async (install) => {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'codex-life-'));
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

  test('all conversations share one app-server, and none is left after close', async () => {
    const { engine, stateDir, request } = start();
    model.script(() => hello);
    await Promise.all(
      ['a', 'b'].map((conversationKey) => collectTurn(engine, engineRequest({ prompt: 'hi', ...request, conversationKey }))),
    );
    expect(servers(stateDir)).toHaveLength(1);
    await engine.close();
    expect(servers(stateDir)).toEqual([]);
  });

  test('an app-server that dies in the middle of a turn is a failed turn, and the session goes on in a new one', async () => {
    const { engine, stateDir, request } = start();
    model.script(() => hello);
    const { sessionId: resume } = await collectTurn(engine, engineRequest({ prompt: 'one', ...request }));
    model.script(() => ({ steps: [{ text: ['a ', createGate()] }] }));
    const onEvent = ({ type }: { type: string }) => {
      if (type === 'delta') for (const pid of servers(stateDir)) process.kill(pid, 'SIGKILL');
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

  test('an abort ends a command that runs', async () => {
    const { engine, request } = start();
    model.script((asked) =>
      asked.toolResults.length > 0 ? hello : { steps: [{ tool: 'exec_command', input: { cmd: 'sleep 4321' } }] },
    );
    const controller = new AbortController();
    const turn = collectTurn(engine, engineRequest({ prompt: 'go', ...request }), { signal: controller.signal });
    await vi.waitFor(() => expect(sleepers(request.cwd).length).toBeGreaterThan(0), { timeout: 10_000 });
    controller.abort();
    expect((await turn).last).toEqual({ type: 'aborted' });
    await vi.waitFor(() => expect(sleepers(request.cwd)).toEqual([]), { timeout: 3000 });
  });

  test('a command left in the background ends with its turn', async () => {
    const { engine, request } = start();
    model.script([{ steps: [{ tool: 'exec_command', input: { cmd: 'sleep 4321', yield_time_ms: 250 } }] }, hello]);
    const { last } = await collectTurn(engine, engineRequest({ prompt: 'go', ...request }));
    expect(last).toEqual({ type: 'done' });
    await vi.waitFor(() => expect(sleepers(request.cwd)).toEqual([]), { timeout: 3000 });
  });

  test('when the service is killed the app-server goes too', async () => {
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
    expect(servers(stateDir)).toHaveLength(1);
    child.kill('SIGKILL');
    await vi.waitFor(() => expect(servers(stateDir)).toEqual([]), { timeout: 8000 });
  });

  test('an endpoint that is away is a failed turn within seconds', async () => {
    const gone = await startModelServer();
    await gone.close();
    const { engine, request } = start({ baseUrl: gone.url });
    const before = performance.now();
    const { last } = await collectTurn(engine, engineRequest({ prompt: 'hi', ...request }));
    expect(last).toMatchObject({
      type: 'failed',
      failure: { code: 'engine_endpoint_down', message: expect.stringContaining('ECONNREFUSED') },
    });
    expect(performance.now() - before).toBeLessThan(8000);
  });

  test('a limit of the upstream is a failed turn that may be tried again', async () => {
    const { engine, request } = start();
    model.script(() => ({ status: 429, kind: 'rate_limit_error', message: 'slow down' }));
    const { last } = await collectTurn(engine, engineRequest({ prompt: 'hi', ...request }));
    expect(last).toMatchObject({ type: 'failed', failure: { code: 'engine_rate_limited', retryable: true } });
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
    expect(JSON.stringify(model.requests.at(-1)?.body)).toContain('input_image');
  });

  test("the owner's own settings of codex have no part in the turn, and without a login the probe says so", async () => {
    const home = mkdtempSync(path.join(dir, 'home-'));
    mkdirSync(path.join(home, '.codex'));
    writeFileSync(
      path.join(home, '.codex/config.toml'),
      'sandbox_mode = "danger-full-access"\n[mcp_servers.owned]\ncommand = "/nowhere/owned"\n',
    );
    const { engine, stateDir } = start({ baseUrl: null, env: { PATH: process.env.PATH, HOME: home, OPENAI_API_KEY: 'sk-x' } });
    expect(await engine.probe()).toMatchObject({
      installed: true,
      ready: false,
      auth: 'none',
      reason: expect.stringContaining('codex login'),
    });
    expect(readdirSync(path.join(stateDir, 'home'))).not.toContain('config.toml');
  });
});

test('an engine that is not there is a failed turn that says where it was looked for', async () => {
  const engine = createEngine(engineDeps({ stateDir: os.tmpdir(), path: '/nowhere/codex' }));
  const { events } = await collectTurn(engine, engineRequest({ prompt: 'hi', cwd: os.tmpdir() }));
  expect(events).toMatchObject([
    { type: 'failed', failure: { code: 'engine_not_installed', message: expect.stringContaining('/nowhere/codex') } },
  ]);
});

/** The app-server works in the engine's state folder. */
const servers = (stateDir: string) => processesIn(stateDir, 'codex app-server');
const sleepers = (cwd: string) => processesIn(cwd, 'sleep 4321');
