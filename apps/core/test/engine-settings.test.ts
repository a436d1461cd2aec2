import { readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import type { EngineView } from '@svc/contract/engine.ts';
import type { CreateEngine, Engine, EngineDeps, EngineProbe } from '@svc/engine-kit/engine.ts';
import { createScriptedEngine, type ScriptedEngine } from '@svc/testing/scripted-engine.ts';
import { engineIds, type EngineId } from '../src/engine/load-engine.ts';
import { envelope, openTestCore, type TestCore } from './open-test-core.ts';

type Made = { id: EngineId; deps: EngineDeps; engine: ScriptedEngine; isClosed: boolean };

/** Engines that answer with their name, and whose probe is set by the test. */
function fakeEngines(found: Partial<Record<EngineId, Partial<EngineProbe>>> = {}) {
  const made: Made[] = [];
  const loadEngine = (id: EngineId): Promise<CreateEngine> =>
    Promise.resolve((deps) => {
      const engine = createScriptedEngine(id);
      const entry: Made = { id, deps, engine, isClosed: false };
      made.push(entry);
      const login: EngineProbe = { ...ready, auth: deps.baseUrl !== null ? 'local' : deps.apiKey ? 'api_key' : 'subscription' };
      return {
        ...engine,
        probe: () => Promise.resolve({ ...login, ...found[id] }),
        close: () => Promise.resolve(void (entry.isClosed = true)),
      } satisfies Engine;
    });
  return { made, loadEngine, last: (id: EngineId) => made.findLast((entry) => entry.id === id) };
}

const ready: EngineProbe = {
  installed: true,
  version: '1.0.0',
  path: '/p',
  auth: 'subscription',
  ready: true,
  reason: 'It is logged in.',
};

let core: TestCore;
let fakes: ReturnType<typeof fakeEngines>;

async function open(options: { env?: Record<string, string>; found?: Parameters<typeof fakeEngines>[0]; dataDir?: string } = {}) {
  fakes = fakeEngines(options.found);
  core = await openTestCore({ env: options.env, dataDir: options.dataDir, loadEngine: fakes.loadEngine });
}
afterEach(() => core.close());

const call = (method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE', at: string, payload?: object) =>
  core.app.inject({ method, url: `/v2/engines${at}`, ...(payload && { payload }) });
const list = async () => (await call('GET', '')).json<{ engines: EngineView[]; current: { id: string; model: string | null } }>();
const view = async (id: EngineId) => (await list()).engines.find((engine) => engine.id === id);
const turn = async (text = 'hi', id = String(Math.random())) => (await core.handle(envelope(text, { message_id: id }))).json();
const key = 'sk-test-0123456789';

describe('GET /v2/engines', () => {
  test("[R15] masks secrets in the output of an engine's program", async () => {
    const said = 'GET https://x.io/?access_token=K1l2M3n4O5p6Q7r8S9t0 failed, Cnry7Var2kQzLwXp';
    await open({ env: { SOME_TOKEN: 'Cnry7Var2kQzLwXp' }, found: { codex: { ready: false, reason: said } } });
    const reason = 'GET https://x.io/?access_token=[redacted:credential] failed, [redacted:secret]';
    expect(await view('codex')).toMatchObject({ reason });
    expect((await call('POST', '/codex/refresh')).json()).toMatchObject({ engine: { reason } });
  });

  test('lists each engine with its state and settings, and exactly one default', async () => {
    await open();
    const { engines, current } = await list();
    expect(engines.map(({ id }) => id)).toEqual(engineIds);
    expect(engines.filter((engine) => engine.default).map(({ id }) => id)).toEqual([current.id]);
    expect(engines[1]).toMatchObject({
      id: 'codex',
      installed: true,
      version: '1.0.0',
      ready: true,
      auth: 'subscription',
      model: null,
      connection: 'subscription',
      key_present: false,
      billing: null,
      billed: false,
      auto_update: false,
      base_url: null,
      latest_version: null,
      install: null,
      pinned_version: expect.stringMatching(/^\d/) as string,
    });
    expect(engines[1]?.models.length).toBeGreaterThan(2);
    expect(JSON.stringify(engines)).not.toContain('program');
  });
});

describe('PATCH /v2/engines/:id', () => {
  test('applies a new model from the next turn on', async () => {
    await open();
    await turn();
    expect((await call('PATCH', '/claude', { model: 'claude-haiku-5-5' })).json()).toMatchObject({
      ok: true,
      engine: { id: 'claude', model: 'claude-haiku-5-5' },
    });
    await turn();
    expect(
      fakes.made.filter(({ id }) => id === 'claude').flatMap(({ engine }) => engine.requests.map(({ model }) => model)),
    ).toEqual([null, 'claude-haiku-5-5']);
    await call('PATCH', '/claude', { model: null });
    expect(await view('claude')).toMatchObject({ model: null });
  });

  test('lets a running turn finish on its old engine, which is closed afterwards', async () => {
    await open();
    await turn();
    const before = fakes.last('claude');
    const gate = Promise.withResolvers<void>();
    before?.engine.script(async function* () {
      yield { type: 'delta', text: 'old' };
      await gate.promise;
      yield { type: 'done' };
    });
    const running = turn('slow', 'slow');
    await expect.poll(() => before?.engine.requests.length).toBe(2);
    await call('PATCH', '/claude', { model: 'm-2' });
    expect((await core.handle(envelope('hi', { conversation_key: 'compat:c1:other' }))).json()).toMatchObject({
      outcome: 'replied',
    });
    expect(fakes.last('claude')).not.toBe(before);
    expect(before?.isClosed).toBe(false);
    gate.resolve();
    expect(await running).toMatchObject({ actions: [{ text: 'old' }] });
    await expect.poll(() => before?.isClosed).toBe(true);
  });

  test('bills turns by the billing override', async () => {
    await open();
    await call('PATCH', '/claude', { billing: 'api_key' });
    expect(await view('claude')).toMatchObject({ billing: 'api_key', billed: true });
    await turn();
    const used = () => core.telemetry.events.findLast(({ kind }) => kind === 'token-usage');
    expect(used()?.billed).toBe(true);
    await call('PATCH', '/claude', { billing: null });
    await turn();
    expect(used()?.billed).toBe(false);
  });

  test('bills turns by the login that the latest refresh found', async () => {
    const found: Parameters<typeof fakeEngines>[0] = {};
    await open({ found });
    const billed = async () => {
      await turn();
      return core.telemetry.events.findLast(({ kind }) => kind === 'token-usage')?.billed;
    };
    expect(await billed()).toBe(false);
    found.claude = { auth: 'api_key' };
    expect((await call('POST', '/claude/refresh')).json()).toMatchObject({ engine: { billed: true } });
    expect(await billed()).toBe(true);
    const made = fakes.made.length;
    await call('POST', '/claude/refresh');
    expect([await billed(), fakes.made.length]).toEqual([true, made]);
  });

  test.each<[object, string]>([
    [{}, 'nothing'],
    [{ model: '' }, 'an empty model'],
    [{ model: '-rf' }, 'a model that is an option'],
    [{ model: 'a b' }, 'a model with a blank'],
    [{ connection: 'free' }, 'an unknown connection'],
    [{ auto_update: 'yes' }, 'a flag that is not a boolean'],
    [{ base_url: 'http://x' }, 'a field that has its own route'],
  ])('rejects %j: %s', async (body) => {
    await open();
    expect((await call('PATCH', '/codex', body)).statusCode).toBe(400);
  });

  test('refuses an API key for claude, and names the reason and the alternatives', async () => {
    await open({ env: { ANTHROPIC_API_KEY: key } });
    for (const refused of [
      await call('PATCH', '/claude', { connection: 'api_key' }),
      await call('PUT', '/claude/apikey', { value: key }),
    ]) {
      expect([refused.statusCode, refused.json().error]).toEqual([409, 'engine_api_key_refused']);
      expect(refused.json().message).toMatch(/billed[^]*svc engine login claude[^]*codex or gemini/);
    }
    expect(await view('claude')).toMatchObject({ connection: 'subscription', key_present: false });
  });

  test('refuses API-key mode without a key, and names the command that sets one', async () => {
    await open();
    const refused = await call('PATCH', '/codex', { connection: 'api_key' });
    expect([refused.statusCode, refused.json().message]).toEqual([409, expect.stringContaining('svc engine key codex')]);
  });

  test('refuses to override a setting of the environment, and names it', async () => {
    await open({ env: { SVC_DEFAULT_ENGINE: 'claude', SVC_ENGINE_MODEL: 'm-env', SVC_CODEX_BASE_URL: 'http://127.0.0.1:9/v1' } });
    const refusals = [
      [await call('PATCH', '/claude', { model: 'm' }), 'SVC_ENGINE_MODEL'],
      [await call('POST', '/codex/default'), 'SVC_DEFAULT_ENGINE'],
      [await call('POST', '/codex/base-url', { url: 'http://127.0.0.1:8/v1' }), 'SVC_CODEX_BASE_URL'],
    ] as const;
    for (const [{ statusCode, body }, name] of refusals) expect([statusCode, body]).toEqual([409, expect.stringContaining(name)]);
    expect(await list()).toMatchObject({ current: { id: 'claude', model: 'm-env' } });
    expect((await call('POST', '/claude/default')).statusCode).toBe(200);
  });

  test('answers 404 for an unknown engine and 409 for the built-in one', async () => {
    await open();
    expect((await call('PATCH', '/claudia', { model: 'm' })).statusCode).toBe(404);
    expect((await call('PATCH', '/offline', { model: 'm' })).statusCode).toBe(409);
    expect((await call('PUT', '/offline/apikey', { value: key })).statusCode).toBe(409);
    expect((await call('POST', '/offline/install')).statusCode).toBe(409);
  });
});

describe('POST /v2/engines/:id/default', () => {
  test('sets the one default engine from the next turn on', async () => {
    await open();
    expect(await turn()).toMatchObject({ engine_id: 'claude' });
    expect((await call('POST', '/codex/default')).json()).toMatchObject({ engine: { id: 'codex', default: true } });
    expect(await turn()).toMatchObject({ engine_id: 'codex' });
    await call('POST', '/gemini/default');
    expect((await list()).engines.filter((engine) => engine.default).map(({ id }) => id)).toEqual(['gemini']);
  });

  test('refuses an engine that is not installed, and names the command that installs it', async () => {
    await open({ found: { codex: { installed: false, ready: false, reason: 'Codex is not installed.' } } });
    const refused = await call('POST', '/codex/default');
    expect([refused.statusCode, refused.json().message]).toEqual([409, expect.stringContaining('svc engine install codex')]);
  });

  test('does not repeat a command that the reason already names', async () => {
    const reason = 'Codex is not installed: "./svc engine install codex".';
    await open({ found: { codex: { installed: false, ready: false, reason } } });
    expect((await call('POST', '/codex/default')).json().message).toBe(reason);
  });
});

describe('an API key', () => {
  test('is stored in a private file and given to its engine only; the answer names the file, never the key', async () => {
    await open();
    const kept = await call('PUT', '/codex/apikey', { value: key });
    expect(kept.json()).toMatchObject({
      ok: true,
      stored_in: 'file',
      engine: { connection: 'api_key', key_present: true, billed: true },
    });
    expect(kept.body).not.toContain(key);
    const file = path.join(core.folder, 'secrets.json');
    expect([statSync(file).mode & 0o777, JSON.parse(readFileSync(file, 'utf8'))]).toEqual([0o600, { SVC_CODEX_API_KEY: key }]);
    expect(fakes.last('codex')?.deps.apiKey?.reveal()).toBe(key);
    expect(Object.values(fakes.last('claude')?.deps.env ?? {})).not.toContain(key);
    expect(fakes.last('gemini')?.deps.apiKey ?? null).toBeNull();
  });

  test('is masked in replies from then on', async () => {
    await open();
    await call('PUT', '/codex/apikey', { value: key });
    expect(JSON.stringify(await turn(`say ${key}`))).not.toContain(key);
  });

  test('when removed, gives way to the login, even if the environment has a key', async () => {
    await open({ env: { OPENAI_API_KEY: 'sk-of-the-environment' } });
    await call('PUT', '/codex/apikey', { value: key });
    const gone = await call('DELETE', '/codex/apikey');
    expect(gone.json()).toMatchObject({
      note: expect.stringContaining('OPENAI_API_KEY'),
      engine: { connection: 'subscription', billed: false },
    });
    expect(JSON.parse(readFileSync(path.join(core.folder, 'secrets.json'), 'utf8'))).toEqual({});
    expect(fakes.last('codex')?.deps).toMatchObject({ apiKey: null, env: { OPENAI_API_KEY: undefined } });
    const record = await core.app.inject('/trust/audit?limit=2');
    const facts = { name: 'SVC_CODEX_API_KEY', engine: 'codex' };
    expect(record.json()).toMatchObject({
      audit: [
        { what: 'secret_removed', actor: 'local', before: facts },
        { what: 'secret_set', actor: 'local', after: { ...facts, stored_in: 'file' } },
      ],
    });
    expect(record.body).not.toContain(key);
  });

  test('of gemini in the environment is used by default, and bills every turn', async () => {
    await open({ env: { GEMINI_API_KEY: key, SVC_DEFAULT_ENGINE: 'gemini' } });
    expect(await view('gemini')).toMatchObject({ connection: 'api_key', key_present: true, billed: true });
    await turn();
    expect(core.telemetry.events.findLast(({ kind }) => kind === 'token-usage')?.billed).toBe(true);
    await call('PATCH', '/gemini', { connection: 'subscription' });
    expect(fakes.last('gemini')?.deps).toMatchObject({ apiKey: null, env: { GEMINI_API_KEY: undefined } });
  });

  test('of OpenRouter in the environment is used for the OpenRouter address', async () => {
    await open({ env: { OPENROUTER_API_KEY: key, SVC_CODEX_BASE_URL: 'https://openrouter.ai/api/v1' } });
    expect(await view('codex')).toMatchObject({ connection: 'api_key', key_present: true });
    expect(fakes.last('codex')?.deps.apiKey?.reveal()).toBe(key);
  });

  test.each(['https://openrouter.ai.evil.example/api/v1', 'http://openrouter.ai/api/v1', 'http://127.0.0.1:1/v1', ''])(
    'of OpenRouter is not sent to %j',
    async (url) => {
      await open({ env: { OPENROUTER_API_KEY: key, SVC_CODEX_BASE_URL: url } });
      expect(await view('codex')).toMatchObject({ key_present: false });
      expect(fakes.last('codex')?.deps.apiKey ?? null).toBeNull();
    },
  );

  test.each(['short', 'with a blank in it', 'with\nline break', ''])('%j is rejected without being quoted', async (value) => {
    await open();
    const refused = await call('PUT', '/codex/apikey', { value });
    expect(refused.statusCode).toBe(400);
    if (value !== '') expect(refused.body).not.toContain(value);
  });

  test('is refused when others can read the secrets file, and nothing changes', async () => {
    await open();
    writeFileSync(path.join(core.folder, 'secrets.json'), '{}', { mode: 0o644 });
    const refused = await call('PUT', '/codex/apikey', { value: key });
    expect([refused.statusCode, refused.json().message]).toEqual([422, expect.stringContaining('chmod 600')]);
    expect(await view('codex')).toMatchObject({ connection: 'subscription' });
  });
});

describe('the default engine', () => {
  test('may be one that is not ready, with a warning that suggests a fallback', async () => {
    await open({ found: { codex: { ready: false, reason: 'Nobody is logged in.' } } });
    const chosen = await call('POST', '/codex/default');
    expect(chosen.json()).toMatchObject({
      engine: { id: 'codex', default: true },
      warnings: [
        expect.stringMatching(
          /codex is not ready: Nobody is logged in\. .*turns fail; set SVC_ENGINE_FALLBACK=claude,gemini in /,
        ),
      ],
    });
    expect((await call('POST', '/claude/default')).json()).toMatchObject({ warnings: [] });
  });

  test('can be cleared: then the first engine that is ready answers again', async () => {
    await open();
    await call('POST', '/gemini/default');
    expect((await call('DELETE', '/default')).json()).toMatchObject({ ok: true, current: { id: 'claude' } });
    expect(await turn()).toMatchObject({ engine_id: 'claude' });
  });

  test('cannot be cleared when the environment sets it', async () => {
    await open({ env: { SVC_DEFAULT_ENGINE: 'claude' } });
    expect((await call('DELETE', '/default')).statusCode).toBe(409);
  });
});

describe('POST /v2/engines/:id/base-url', () => {
  test('points codex at a server, and resets it with an empty string', async () => {
    await open();
    const set = await call('POST', '/codex/base-url', { url: 'http://127.0.0.1:11434/v1/' });
    expect(set.json()).toMatchObject({ engine: { base_url: 'http://127.0.0.1:11434/v1', auth: 'local', billed: false } });
    expect(fakes.last('codex')?.deps.baseUrl).toBe('http://127.0.0.1:11434/v1');
    await call('POST', '/codex/base-url', { url: '' });
    await list();
    expect(fakes.last('codex')?.deps.baseUrl).toBeNull();
  });

  test('[X09] rejects schemes other than http and https with 400, and other engines with 409', async () => {
    await open();
    for (const url of ['file:///etc/passwd', 'javascript:1', 'http://a:b@host', 'http://x\r\ny']) {
      expect((await call('POST', '/codex/base-url', { url })).statusCode).toBe(400);
    }
    expect((await call('POST', '/gemini/base-url', { url: 'http://127.0.0.1:1' })).statusCode).toBe(409);
  });

  test('bills turns when a key is sent to an endpoint on another host', async () => {
    await open();
    await call('PUT', '/codex/apikey', { value: key });
    await call('POST', '/codex/base-url', { url: 'https://models.example.com/v1' });
    expect(await view('codex')).toMatchObject({ auth: 'local', billed: true });
  });
});

const used = { input_tokens: 9, output_tokens: 2, cache_read_tokens: 0, cache_write_tokens: 0, estimated: false, cost_usd: null };

describe('POST /v2/engines/:id/test', () => {
  test('runs one real completion of the engine, used or not, and reports its usage', async () => {
    await open({ env: { SVC_DEFAULT_ENGINE: 'claude' } });
    expect((await call('POST', '/codex/test')).json()).toMatchObject({
      ok: true,
      text: expect.any(String),
      ms: expect.any(Number),
    });
    expect(fakes.last('codex')?.engine.requests).toHaveLength(1);
    expect(fakes.last('codex')?.engine.requests[0]).toMatchObject({ toolPolicy: 'none', resume: null });
    expect(core.telemetry.events.findLast(({ kind }) => kind === 'token-usage')?.payload).toMatchObject({
      feature: 'engine-test',
    });
  });

  test('shows a failure with its code and message', async () => {
    await open();
    await list();
    fakes.last('codex')?.engine.script(async function* () {
      yield { type: 'failed', failure: { code: 'engine_not_logged_in', message: 'Run "codex login".', retryable: false } };
    });
    const failed = await call('POST', '/codex/test');
    expect(failed.json()).toMatchObject({ ok: false, error: 'engine_not_logged_in', message: 'Run "codex login".' });
  });

  test.each([
    ['before a word costs nothing', [], []],
    ['behind words costs what these may have', [{ type: 'delta', text: 'rea' }], [true]],
    ['with its usage costs that', [{ type: 'usage', usage: used }], [false]],
  ] as const)('a failure %s', async (_what, events, estimated) => {
    await open();
    await list();
    fakes.last('codex')?.engine.script(async function* () {
      yield* events;
      yield { type: 'failed', failure: { code: 'engine_not_installed', message: 'Install it.', retryable: false } };
    });
    expect((await call('POST', '/codex/test')).json()).toMatchObject({ error: 'engine_not_installed' });
    const counted = core.telemetry.events.filter(({ kind }) => kind === 'token-usage');
    expect(counted.map(({ payload }) => payload?.['estimated'])).toEqual(estimated);
  });
});

test('engine settings survive a crash', async () => {
  await open();
  await call('POST', '/codex/default');
  await call('PATCH', '/codex', { model: 'gpt-6-luna', billing: 'subscription', auto_update: true });
  await call('POST', '/codex/base-url', { url: 'http://127.0.0.1:11434/v1' });
  await call('PUT', '/gemini/apikey', { value: key });
  const left = core.crash();
  await open({ dataDir: left });
  onTestFinished(() => expect(core.context.knownSecrets.fault()).toBeNull());
  expect(await view('codex')).toMatchObject({
    default: true,
    model: 'gpt-6-luna',
    billing: 'subscription',
    auto_update: true,
    base_url: 'http://127.0.0.1:11434/v1',
  });
  expect(await view('gemini')).toMatchObject({ connection: 'api_key', key_present: true });
  expect(await turn()).toMatchObject({ engine_id: 'codex' });
});
