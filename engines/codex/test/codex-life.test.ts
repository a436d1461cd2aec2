import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import { collectTurn } from '@svc/engine-kit/testing/collect-turn.ts';
import { hello, openEngineBench } from '@svc/engine-kit/testing/engine-bench.ts';
import { sleepers, testEngineLife, testMissingEngine } from '@svc/engine-kit/testing/engine-life.ts';
import { engineRequest } from '@svc/engine-kit/testing/engine-request.ts';
import { processesIn } from '@svc/testing/model-server/find-processes.ts';
import { describeWithEngine } from '@svc/testing/model-server/test-engines.ts';
import { createEngine } from '../src/engine.ts';

/** The app-server works in the engine's state folder. */
const servers = (stateDir: string) => processesIn(stateDir, 'codex app-server');

describeWithEngine('codex', "the life of codex's app-server", async (install) => {
  const bench = await openEngineBench({ id: 'codex', createEngine, install });
  const { model, start, dir } = bench;

  testEngineLife(bench, {
    module: path.resolve(import.meta.dirname, '../src/engine.ts'),
    programs: ({ stateDir }) => servers(stateDir),
    shell: (cmd) => ({ tool: 'exec_command', input: { cmd } }),
    imagePart: 'input_image',
    deadEndpointMs: 8_000,
  });

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

  test('a command left in the background ends with its turn', async () => {
    const { engine, request } = start();
    model.script([{ steps: [{ tool: 'exec_command', input: { cmd: 'sleep 4321', yield_time_ms: 250 } }] }, hello]);
    const { last } = await collectTurn(engine, engineRequest({ prompt: 'go', ...request }));
    expect(last).toEqual({ type: 'done' });
    await vi.waitFor(() => expect(sleepers(request.cwd)).toEqual([]), { timeout: 3000 });
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

testMissingEngine('codex', createEngine);
