import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { collectTurn, ofType } from '@svc/engine-kit/testing/collect-turn.ts';
import { hello, openEngineBench } from '@svc/engine-kit/testing/engine-bench.ts';
import { engineDeps } from '@svc/engine-kit/testing/engine-deps.ts';
import { inSeconds, testUpstreamErrors } from '@svc/engine-kit/testing/engine-failures.ts';
import { testEngineLife, testMissingEngine } from '@svc/engine-kit/testing/engine-life.ts';
import { engineRequest } from '@svc/engine-kit/testing/engine-request.ts';
import { testWarmEngine } from '@svc/engine-kit/testing/warm-engine.ts';
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

  testWarmEngine(bench, { programs: ({ cwd }) => programs(cwd) });

  testUpstreamErrors(bench, [
    {
      name: 'a limit that ends within minutes',
      reply: {
        status: 429,
        kind: 'rate_limit_error',
        message: 'Number of request tokens exceeded',
        headers: { 'retry-after': '40' },
      },
      code: 'engine_rate_limited',
      says: /ends in \d+ s/,
      endsIn: 40,
    },
    {
      name: 'no credit',
      reply: {
        status: 400,
        kind: 'invalid_request_error',
        message: 'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.',
      },
      code: 'engine_rate_limited',
      says: /Top up/,
    },
    {
      name: 'overload',
      reply: { status: 529, kind: 'overloaded_error', message: 'Overloaded' },
      code: 'engine_overloaded',
      says: /Try again soon/,
    },
    {
      name: 'a model that is not there',
      reply: { status: 404, kind: 'not_found_error', message: 'model: claude-x-9' },
      code: 'engine_bad_model',
      says: /SVC_ENGINE_MODEL/,
    },
    {
      name: 'a context that is too long',
      reply: { status: 400, kind: 'invalid_request_error', message: 'prompt is too long: 208310 tokens > 200000 maximum' },
      code: 'engine_context_too_long',
      says: /\/new/,
    },
    {
      name: 'an account without the right',
      reply: { status: 403, kind: 'permission_error', message: 'Your account does not have access' },
      code: 'engine_auth_failed',
      says: /svc engine login claude/,
    },
  ]);

  test('no more programs stay open than the settings say, and none after close', async () => {
    const { engine, request } = start({ warm: 1 });
    model.script(() => hello);
    await collectTurn(engine, engineRequest({ prompt: 'one', ...request, conversationKey: 'a' }));
    await collectTurn(engine, engineRequest({ prompt: 'two', ...request, conversationKey: 'b' }));
    await vi.waitFor(() => expect(programs(request.cwd)).toHaveLength(1), { timeout: 5000 });
    await engine.close();
    expect(programs(request.cwd)).toEqual([]);
  });

  test('the limit of a subscription says when it ends', async () => {
    const home = mkdtempSync(path.join(dir, 'home-'));
    mkdirSync(path.join(home, '.claude'));
    writeFileSync(path.join(home, '.claude/settings.json'), JSON.stringify({ env: { ANTHROPIC_BASE_URL: model.url } }));
    const env = { PATH: process.env.PATH, HOME: home, CLAUDE_CODE_OAUTH_TOKEN: 'sk-ant-oat01-x' };
    const { engine, request } = start({ baseUrl: null, env });
    const limit = 'anthropic-ratelimit-unified';
    const headers = {
      [`${limit}-status`]: 'rejected',
      [`${limit}-reset`]: String(inSeconds(7200)),
      [`${limit}-representative-claim`]: 'five_hour',
    };
    model.script(() => ({ status: 429, kind: 'rate_limit_error', message: 'This would exceed your rate limit', headers }));
    const { last } = await collectTurn(engine, engineRequest({ prompt: 'hi', ...request }));
    const message = expect.stringMatching(/limit.*ends in (1\d\d min|2 h)/);
    expect(last).toMatchObject({ type: 'failed', failure: { code: 'engine_rate_limited', message } });
    expect(model.requests.at(-1)?.auth).toBe('Bearer');
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
      failure: { code: 'engine_not_logged_in', message: expect.stringContaining('svc engine login claude') },
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
