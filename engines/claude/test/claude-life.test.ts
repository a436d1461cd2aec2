import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { collectTurn, ofType } from '@svc/engine-kit/testing/collect-turn.ts';
import { hello, openEngineBench } from '@svc/engine-kit/testing/engine-bench.ts';
import { engineDeps } from '@svc/engine-kit/testing/engine-deps.ts';
import { testEngineLife, testMissingEngine } from '@svc/engine-kit/testing/engine-life.ts';
import { engineRequest } from '@svc/engine-kit/testing/engine-request.ts';
import { processesIn } from '@svc/testing/model-server/find-processes.ts';
import { describeWithEngine } from '@svc/testing/model-server/test-engines.ts';
import { createEngine } from '../src/engine.ts';

const programs = (cwd: string) => processesIn(cwd, 'claude .*--input-format stream-json');

describeWithEngine('claude', "the life of claude's programs", async (install) => {
  const bench = await openEngineBench({ id: 'claude', createEngine, install });
  const { model, start, dir } = bench;

  testEngineLife(bench, {
    module: path.resolve(import.meta.dirname, '../src/engine.ts'),
    programs: ({ cwd }) => programs(cwd),
    shell: (command) => ({ tool: 'Bash', input: { command, description: 'x' } }),
    imagePart: '"type":"image"',
    deadEndpointMs: 15_000,
  });

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
});

testMissingEngine('claude', createEngine);
