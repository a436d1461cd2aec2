import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { collectTurn, ofType } from '@svc/engine-kit/testing/collect-turn.ts';
import { hello, openEngineBench } from '@svc/engine-kit/testing/engine-bench.ts';
import { inSeconds, longWait, testUpstreamErrors } from '@svc/engine-kit/testing/engine-failures.ts';
import { testEngineLife, testMissingEngine } from '@svc/engine-kit/testing/engine-life.ts';
import { engineRequest } from '@svc/engine-kit/testing/engine-request.ts';
import { testWarmEngine } from '@svc/engine-kit/testing/warm-engine.ts';
import { http } from '@svc/service-kit/builtin.ts';
import { Secret } from '@svc/service-kit/secret.ts';
import { filesBelow, filesHolding } from '@svc/testing/files-below.ts';
import { listen } from '@svc/testing/listen.ts';
import { processesIn } from '@svc/testing/model-server/find-processes.ts';
import { describeWithEngine } from '@svc/testing/model-server/test-engines.ts';
import { createEngine } from '../src/engine.ts';

/** The app-server runs in the engine's state folder. */
const servers = (stateDir: string) => processesIn(stateDir, 'codex app-server');

describeWithEngine('codex', "lifecycle of codex's app-server", async (install) => {
  const bench = await openEngineBench({ id: 'codex', createEngine, install }, { sharesState: true });
  const { model, start, dir } = bench;

  testEngineLife(bench, {
    module: path.resolve(import.meta.dirname, '../src/engine.ts'),
    programs: ({ stateDir }) => servers(stateDir),
    shell: (cmd) => ({ tool: 'exec_command', input: { cmd } }),
    background: (cmd) => ({ tool: 'exec_command', input: { cmd, yield_time_ms: 250 } }),
    imagePart: 'input_image',
    deadEndpointMs: 30_000,
  });

  test('all conversations share one app-server, which ends with close()', async () => {
    const { engine, stateDir, request } = start();
    model.script(() => hello);
    await Promise.all(
      ['a', 'b'].map((conversationKey) => collectTurn(engine, engineRequest({ prompt: 'hi', ...request, conversationKey }))),
    );
    expect(servers(stateDir)).toHaveLength(1);
    await engine.close();
    expect(servers(stateDir)).toEqual([]);
  });

  test('replaces a thread that a power failure has damaged, and can forget it', async () => {
    const first = start();
    model.script(() => hello);
    const said = await collectTurn(first.engine, engineRequest({ prompt: 'WORDS', ...first.request }));
    await first.engine.close();
    const files = () =>
      filesBelow(path.join(first.stateDir, 'home/sessions')).filter((file) => file.includes(said.sessionId ?? ''));
    for (const file of files()) writeFileSync(file, '');
    const { engine, request } = start({ stateDir: first.stateDir });
    const next = await collectTurn(engine, engineRequest({ prompt: 'hi', ...request, resume: said.sessionId }));
    expect(next).toMatchObject({ text: 'hello', last: { type: 'done' } });
    expect(ofType(next.events, 'notice')).toMatchObject([{ code: 'session_unknown' }]);
    expect(files()).toHaveLength(1);
    await engine.forget?.(said.sessionId ?? '');
    expect(files()).toEqual([]);
    await engine.forget?.(said.sessionId ?? '');
  });

  testWarmEngine(bench, { programs: ({ stateDir }) => servers(stateDir) });

  testUpstreamErrors(bench, [
    longWait,
    {
      name: 'the limit of a subscription',
      reply: {
        status: 429,
        kind: 'usage_limit_reached',
        message: 'The usage limit has been reached',
        fields: { plan_type: 'plus', resets_at: inSeconds(7200) },
        headers: { 'x-codex-primary-used-percent': '100', 'x-codex-primary-reset-at': String(inSeconds(7200)) },
      },
      code: 'engine_rate_limited',
      says: /Try again in (1\d\d min|2 h)/,
      endsIn: 7200,
    },
    {
      name: 'a limit with a far end',
      reply: { status: 429, kind: 'rate_limit_exceeded', message: 'Rate limit reached', headers: { 'retry-after': '3600' } },
      code: 'engine_rate_limited',
      says: /Try again in \d+ min/,
      endsIn: 3600,
    },
    {
      name: 'overload for long',
      reply: { status: 503, kind: 'x', message: 'busy', headers: { 'retry-after': '3600' } },
      code: 'engine_overloaded',
      says: /Try again soon/,
    },
    {
      name: 'a fault of the service',
      reply: { status: 500, kind: 'server_error', message: 'boom' },
      code: 'engine_endpoint_down',
      says: /^The model service failed\. Try again\. If it keeps failing, check the model endpoint\.$/,
    },
    {
      name: 'a server without the protocol',
      reply: { status: 404, kind: 'not_found_error', message: 'File Not Found' },
      code: 'engine_endpoint_down',
      says: /^http:\/\/127\.0\.0\.1:\d+\/v1 answers, but has no \/responses \(404\)\. Codex needs the Responses API/,
    },
    {
      name: 'no credit',
      reply: { status: 429, kind: 'insufficient_quota', message: 'You exceeded your current quota' },
      code: 'engine_rate_limited',
      says: /billing/,
    },
    {
      name: 'overload',
      reply: { status: 503, kind: 'server_is_overloaded', message: 'Our servers are currently overloaded.' },
      code: 'engine_overloaded',
      says: /Try again soon/,
    },
    {
      name: 'a model that is not there',
      reply: { status: 404, kind: 'model_not_found', message: 'The model `x` does not exist' },
      code: 'engine_bad_model',
      says: /`x` does not exist.*SVC_ENGINE_MODEL/,
    },
    {
      name: 'a context that is too long',
      reply: {
        status: 400,
        kind: 'context_length_exceeded',
        message: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
      },
      code: 'engine_context_too_long',
      says: /\/new/,
    },
    {
      name: 'a key that is wrong',
      reply: { status: 401, kind: 'invalid_api_key', message: 'Incorrect API key provided' },
      code: 'engine_auth_failed',
      says: /^Incorrect API key provided\. .*svc engine login codex/,
    },
  ]);

  test('a reply that is cut off is one failure that can be retried, and no text is repeated', async () => {
    const { url, close } = await listen(
      http.createServer((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const item = { id: 'm', type: 'message', role: 'assistant', content: [] };
        for (const event of [
          { type: 'response.created', response: { id: 'r' } },
          { type: 'response.output_item.added', output_index: 0, item },
          { type: 'response.output_text.delta', item_id: 'm', output_index: 0, content_index: 0, delta: 'half a' },
        ])
          response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
        setImmediate(() => response.destroy());
      }),
    );
    onTestFinished(close);
    const { engine, request } = start({ baseUrl: url });
    const { last, text } = await collectTurn(engine, engineRequest({ prompt: 'hi', ...request }));
    expect(text).toMatch(/^(half a)?$/);
    const failure = {
      code: 'engine_endpoint_down',
      retryable: true,
      message: 'The reply of the model was cut off. Try again. If it keeps failing, check the model endpoint.',
    };
    expect(last).toEqual({ type: 'failed', failure });
  });

  test.each([4, 0])(
    'with %i threads kept, a turn is charged for its requests, including a compaction, but not earlier ones',
    async (warm) => {
      const { engine, request } = start({ warm });
      model.requests.length = 0;
      const tokens = [260_000, 1000, 200, 30];
      model.script(() => ({
        steps: [{ text: 'ok' }],
        usage: { input: tokens[model.requests.length - 1] ?? 0, cacheRead: 0, output: 1 },
      }));
      const used: number[] = [];
      let resume: string | null = null;
      for (const prompt of ['one', 'two', 'three']) {
        const turn = await collectTurn(engine, engineRequest({ prompt, ...request, model: 'gpt-5.5', resume }));
        resume = turn.sessionId;
        used.push(...ofType(turn.events, 'usage').map(({ usage }) => usage.input_tokens));
      }
      expect(model.requests).toHaveLength(4);
      expect(used).toEqual([260_000, 1200, 30]);
    },
  );

  test.each(['reply', 'abort'] as const)('a detached process ends with the %s', async (end) => {
    const { engine, request } = start();
    const cmd = `(setsid sleep 4747 &) ; ${end === 'abort' ? 'sleep 4747' : 'true'}`;
    model.script((asked) => (asked.toolResults.length > 0 ? hello : { steps: [{ tool: 'exec_command', input: { cmd } }] }));
    const ending = new AbortController();
    const sleeping = () => processesIn(request.cwd, 'sleep 4747');
    const turn = collectTurn(engine, engineRequest({ prompt: 'hi', ...request, toolPolicy: 'full' }), {
      signal: ending.signal,
    });
    if (end === 'abort') {
      await expect.poll(sleeping).not.toEqual([]);
      ending.abort();
    }
    expect((await turn).last?.type).toBe(end === 'abort' ? 'aborted' : 'done');
    await expect.poll(sleeping).toEqual([]);
  });

  test('a key in the environment is not a login: the turn fails at once and says how to log in', async () => {
    const home = mkdtempSync(path.join(dir, 'home-'));
    const env = { PATH: process.env.PATH, HOME: home, OPENAI_API_KEY: 'sk-x', CODEX_API_KEY: 'sk-y' };
    const { engine, request } = start({ baseUrl: null, env });
    const { last } = await collectTurn(engine, engineRequest({ prompt: 'hi', ...request }));
    expect(last).toMatchObject({
      type: 'failed',
      failure: { code: 'engine_not_logged_in', message: expect.stringContaining('svc engine login codex') },
    });
  });

  test("a key is only in the environment of codex's process, needs no login, and is not written to disk", async () => {
    const apiKey = 'sk-canary-0123456789';
    const { engine, stateDir, request } = start({ baseUrl: null, apiKey: new Secret(apiKey) });
    expect(await engine.probe()).toMatchObject({ installed: true, ready: true, auth: 'api_key' });
    const ending = new AbortController();
    const turn = collectTurn(engine, engineRequest({ prompt: 'hi', ...request }), { signal: ending.signal });
    await expect.poll(() => servers(stateDir)).toHaveLength(1);
    const [pid = 0] = servers(stateDir);
    expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).toContain(`OPENAI_API_KEY=${apiKey}`);
    expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).not.toContain(apiKey);
    ending.abort();
    await turn;
    await engine.close();
    expect(filesHolding(stateDir, apiKey)).toEqual([]);
  });

  test("the owner's own codex settings are not used, and the probe reports a missing login", async () => {
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
      reason: expect.stringContaining('svc engine login codex'),
    });
    expect(readdirSync(path.join(stateDir, 'home'))).not.toContain('config.toml');
  });
});

testMissingEngine('codex', createEngine);
