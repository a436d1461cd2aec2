import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { collectTurn, ofType } from '@svc/engine-kit/testing/collect-turn.ts';
import { hello, openEngineBench } from '@svc/engine-kit/testing/engine-bench.ts';
import { engineDeps } from '@svc/engine-kit/testing/engine-deps.ts';
import {
  hourLimit,
  inSeconds,
  longWait,
  serviceError,
  testCutReplies,
  testUpstreamErrors,
} from '@svc/engine-kit/testing/engine-failures.ts';
import { testEngineLife, testMissingEngine } from '@svc/engine-kit/testing/engine-life.ts';
import { engineRequest } from '@svc/engine-kit/testing/engine-request.ts';
import { testWarmEngine } from '@svc/engine-kit/testing/warm-engine.ts';
import { filesBelow } from '@svc/testing/files-below.ts';
import { processesIn } from '@svc/testing/model-server/find-processes.ts';
import { listen } from '@svc/testing/listen.ts';
import { http } from '@svc/service-kit/builtin.ts';
import { describeWithEngine } from '@svc/testing/model-server/test-engines.ts';
import { createEngine } from '../src/engine.ts';

const programs = (cwd: string) => processesIn(cwd, 'claude .*--input-format stream-json');

describeWithEngine('claude', "lifecycle of claude's programs", async (install) => {
  const bench = await openEngineBench({ id: 'claude', createEngine, install });
  const { model, start, dir } = bench;

  testEngineLife(bench, {
    module: path.resolve(import.meta.dirname, '../src/engine.ts'),
    programs: ({ cwd }) => programs(cwd),
    shell: (command) => ({ tool: 'Bash', input: { command, description: 'x' } }),
    imagePart: '"type":"image"',
    deadEndpointMs: 30_000,
  });

  testWarmEngine(bench, { programs: ({ cwd }) => programs(cwd) });

  const event = (type: string, fields: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'x', content: [], stop_reason: null, usage };
  const begun = event('message_start', { message });
  const block = event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } });
  const words = event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Hel' } });
  testCutReplies(bench, ['', begun, `${begun}${block}${words}`]);

  testUpstreamErrors(bench, [
    hourLimit,
    serviceError,
    longWait,
    {
      name: 'a limit that ends within minutes',
      reply: {
        status: 429,
        kind: 'rate_limit_error',
        message: 'Number of request tokens exceeded',
        headers: { 'retry-after': '40' },
      },
      code: 'engine_rate_limited',
      says: /Try again in \d+ s/,
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

  test('keeps at most the configured number of programs, and none after close()', async () => {
    const { engine, request } = start({ warm: 1 });
    model.script(() => hello);
    await collectTurn(engine, engineRequest({ prompt: 'one', ...request, conversationKey: 'a' }));
    await collectTurn(engine, engineRequest({ prompt: 'two', ...request, conversationKey: 'b' }));
    await expect.poll(() => programs(request.cwd)).toHaveLength(1);
    await engine.close();
    expect(programs(request.cwd)).toEqual([]);
  });

  test('keeps no image of a session that is forgotten, nor of a call without a session', async () => {
    const { engine, request, stateDir } = start();
    model.script(() => hello);
    const image = path.join(dir, 'dot.webp');
    writeFileSync(image, Buffer.from('UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA', 'base64'));
    const attachments = [{ path: image, mime: 'image/webp' }];
    const images = () => filesBelow(stateDir).filter((file) => file.includes('/images/'));
    const { sessionId } = await collectTurn(engine, engineRequest({ prompt: 'what is it?', ...request, attachments }));
    expect(images()).toHaveLength(1);
    await engine.forget?.(sessionId ?? '');
    expect(images()).toEqual([]);
    const title = { ...request, attachments, purpose: 'title', toolPolicy: 'none' } as const;
    await collectTurn(engine, engineRequest({ prompt: 'what is it?', ...title }));
    expect(images()).toEqual([]);
  });

  test('the limit of a subscription includes its end', async () => {
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
    const message = expect.stringMatching(/limit.*Try again in (1\d\d min|2 h)/);
    expect(last).toMatchObject({ type: 'failed', failure: { code: 'engine_rate_limited', message } });
    expect(model.requests.at(-1)?.auth).toBe('Bearer');
  });

  test.each([
    ['.claude/settings.json', { env: { ANTHROPIC_API_KEY: 'sk-ant-x' } }, /settings\.json sets ANTHROPIC_API_KEY/],
    ['.claude/settings.json', { apiKeyHelper: 'echo sk-ant-x' }, /settings\.json sets apiKeyHelper/],
    ['.claude/settings.json', { env: { ANTHROPIC_AUTH_TOKEN: 'x' } }, /sets ANTHROPIC_AUTH_TOKEN/],
    ['cwd/.claude/settings.json', { apiKeyHelper: 'echo sk-ant-x' }, /cwd.*sets apiKeyHelper/],
    ['cwd/.claude/settings.local.json', {}, /settings\.local\.json sets ANTHROPIC_BASE_URL/],
  ])('sends no request when %s sets a key or an address (%j)', async (place, settings, says) => {
    const asked: unknown[] = [];
    const server = http.createServer((incoming, response) => {
      asked.push(incoming.url, incoming.headers);
      response.writeHead(500).end('{}');
    });
    const { url, close } = await listen(server);
    onTestFinished(close);
    const home = mkdtempSync(path.join(dir, 'home-'));
    const cwd = path.join(home, 'cwd');
    mkdirSync(path.join(home, path.dirname(place)), { recursive: true });
    mkdirSync(cwd, { recursive: true });
    const env = { ANTHROPIC_BASE_URL: url, ...('env' in settings && settings.env) };
    writeFileSync(path.join(home, place), JSON.stringify({ ...settings, env }));
    const login = { PATH: process.env.PATH, HOME: home, CLAUDE_CODE_OAUTH_TOKEN: 'sk-ant-oat01-x' };
    const { engine } = start({ baseUrl: null, env: login });
    const { events } = await collectTurn(engine, engineRequest({ prompt: 'hi', cwd, trustedFolder: true }));
    const failure = { code: 'engine_api_key_refused', message: expect.stringMatching(says) };
    expect(events).toMatchObject([{ type: 'failed', failure }]);
    expect(asked).toEqual([]);
  });

  test('hides keys and secrets of the service from the program, and reports a missing login', async () => {
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
