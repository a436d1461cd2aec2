import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { EngineView } from '@svc/contract/engine.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import type { CreateEngine, EngineEvent, EngineFailure, EngineProbe } from '@svc/engine-kit/engine.ts';
import { createScriptedEngine, says, type EngineScript, type ScriptedEngine } from '@svc/testing/scripted-engine.ts';
import { engineIds, type EngineId } from '../src/engine/load-engine.ts';
import { envelope, openTestCore } from './open-test-core.ts';

const probe: EngineProbe = {
  installed: true,
  version: '1',
  path: null,
  auth: 'subscription',
  ready: true,
  reason: 'It is there.',
};

/** A core whose default engine is claude, with codex and gemini as fallbacks. */
async function open(env: Record<string, string> = { SVC_ENGINE_FALLBACK: 'codex,gemini' }, before?: (dataDir: string) => void) {
  const engines = new Map<EngineId, ScriptedEngine>();
  const engineOf = (id: EngineId): ScriptedEngine => {
    const engine = engines.get(id) ?? createScriptedEngine(id);
    engine.script(answersAs(id));
    engines.set(id, engine);
    return engine;
  };
  for (const id of ['claude', 'codex', 'gemini'] as const) engineOf(id);
  const loadEngine = (id: EngineId): Promise<CreateEngine> =>
    Promise.resolve(() => ({ ...(engines.get(id) ?? engineOf(id)), probe: () => Promise.resolve(probe) }));
  const core = await openTestCore({ env: { SVC_DEFAULT_ENGINE: 'claude', ...env }, loadEngine, before });
  onTestFinished(() => core.close());
  let serial = 0;
  return {
    core,
    engine: (id: EngineId) => engines.get(id) ?? engineOf(id),
    turn: async (text: string, more: { transcript?: { role: 'user'; text: string }[] } = {}) => {
      const answer = await core.handle(envelope(text, { message_id: `m-${++serial}`, content: { text, ...more } }));
      return answer.json<HandleResult & { error?: string; message?: string }>();
    },
    payloads: (kind: string) => core.telemetry.events.filter((event) => event.kind === kind).map((event) => event.payload),
  };
}

const session = (id: string, request: { resume: string | null }): EngineEvent => ({
  type: 'session',
  engineSessionId: request.resume ?? `${id}-session`,
  resumed: request.resume !== null,
  model: null,
});

const answersAs = (id: string): EngineScript =>
  async function* (request) {
    yield session(id, request);
    yield* says(`${id}: ${request.text}`);
  };

const fails = (
  code: EngineFailure['code'],
  before: EngineEvent[] = [],
  retryAfterMs?: number,
  message = 'It is so.',
): EngineScript =>
  async function* () {
    yield* before;
    yield { type: 'failed', failure: { code, message, retryable: true, ...(retryAfterMs && { retryAfterMs }) } };
  };

const textOf = (result: HandleResult) => result.actions.map((action) => action.text).join('');

test.each(['engine_rate_limited', 'engine_not_logged_in', 'engine_overloaded', 'engine_endpoint_down'] as const)(
  'falls back to the next engine on %s, and the answer names the reason',
  async (code) => {
    const { turn, engine, payloads } = await open();
    engine('claude').script(fails(code));
    const result = await turn('hello');
    expect(textOf(result)).toBe('codex: hello');
    expect(result).toMatchObject({ engine_id: 'codex', warnings: ['claude could not answer: It is so.'] });
    expect(payloads('outbound')).toMatchObject([{ engine_id: 'codex', instead: 'claude could not answer: It is so.' }]);
    expect(payloads('engine')).toMatchObject([{ engine_id: 'claude', code: 'fallback' }]);
    expect(payloads('token-usage')).toMatchObject([{ engine_id: 'codex' }]);
  },
);

test('engines are tried in their order, and the error of the last one is returned', async () => {
  const { turn, engine } = await open();
  engine('claude').script(fails('engine_overloaded'));
  engine('codex').script(fails('engine_not_installed'));
  engine('gemini').script(fails('engine_endpoint_down'));
  expect(await turn('one')).toMatchObject({ error: 'engine_endpoint_down' });
  for (const id of ['claude', 'codex', 'gemini'] as const) expect(engine(id).requests).toHaveLength(1);
  engine('gemini').script(answersAs('gemini'));
  expect(textOf(await turn('two'))).toBe('gemini: two');
});

test.each(['engine_bad_model', 'engine_context_too_long', 'engine_failed'] as const)(
  'does not fall back on %s: the turn fails',
  async (code) => {
    const { turn, engine } = await open();
    engine('claude').script(fails(code));
    expect(await turn('hello')).toMatchObject({ error: code });
    expect(engine('codex').requests).toEqual([]);
  },
);

test.each<[string, EngineEvent]>([
  ['text was shown', { type: 'delta', text: 'a' }],
  ['a thought was shown', { type: 'thinking', text: 'a' }],
  ['a tool was called', { type: 'tool', id: '1', name: 'x', input: {} }],
])('once %s the turn does not fall back, but the next turn does', async (_name, event) => {
  const { turn, engine } = await open();
  engine('claude').script(fails('engine_overloaded', [event]));
  expect(await turn('one')).toMatchObject({ error: 'engine_overloaded' });
  expect(engine('codex').requests).toEqual([]);
  expect(textOf(await turn('two'))).toBe('codex: two');
});

test('an engine out of quota is skipped until its limit ends, and the list of engines reports it', async () => {
  const { turn, engine, core } = await open();
  engine('claude').script(fails('engine_rate_limited', [], 2 * 3_600_000));
  await turn('one');
  const second = await turn('two');
  expect(second).toMatchObject({ engine_id: 'codex', warnings: ['claude is passed over for 2 h: It is so.'] });
  expect(engine('claude').requests).toHaveLength(1);
  const { engines } = (await core.app.inject({ url: '/v2/engines' })).json<{ engines: EngineView[] }>();
  const noticeOf = (id: string) => (id === 'claude' ? 'claude is passed over for 2 h: It is so.' : null);
  expect(engines.map(({ id, notice }) => [id, notice ?? null])).toEqual(engineIds.map((id) => [id, noticeOf(id)]));
});

test('each engine resumes its own session and gets the messages it missed', async () => {
  const { turn, engine } = await open({ SVC_ENGINE_FALLBACK: 'codex' });
  await turn('one');
  engine('claude').script(async function* (request) {
    yield session('claude', request);
    yield* fails('engine_overloaded')(request, new AbortController().signal);
  });
  await turn('two');
  await turn('three');
  const [first, second] = engine('codex').requests;
  expect(first).toMatchObject({ resume: null });
  expect(first?.transcript).toEqual([
    { role: 'user', text: 'one' },
    { role: 'assistant', text: 'claude: one' },
  ]);
  expect(second).toMatchObject({ resume: 'codex-session' });
  engine('claude').script(answersAs('claude'));
  engine('codex').script(fails('engine_overloaded'));
  expect(textOf(await turn('four'))).toBe('claude: four');
  const back = engine('claude').requests.at(-1);
  expect(back?.resume).toBe('claude-session');
  expect(back?.prompt).toContain(
    [
      '{"from":"user","text":"two"}',
      '{"from":"assistant","text":"codex: two"}',
      '{"from":"user","text":"three"}',
      '{"from":"assistant","text":"codex: three"}',
    ].join('\n'),
  );
  expect(back?.prompt).not.toContain('"text":"one"');
});

test('an engine does not get messages that moderation refused before another engine', async () => {
  const deny = (dir: string) => writeFileSync(path.join(dir, 'moderation.deny.txt'), 'launch codes\n');
  const { turn, engine } = await open({ SVC_ENGINE_FALLBACK: 'codex' }, deny);
  await turn('one');
  await turn('two');
  expect(await turn('the launch codes, please')).toMatchObject({ outcome: 'blocked' });
  await turn('/status');
  engine('claude').script(fails('engine_overloaded'));
  await turn('three');
  expect(engine('codex').requests[0]?.transcript.map(({ text }) => text)).toEqual(['one', 'claude: one', 'two', 'claude: two']);
});

test('the transcript of a channel goes to the fallback engine when the first one failed at the first turn', async () => {
  const { turn, engine } = await open();
  engine('claude').script(fails('engine_overloaded'));
  await turn('hello', { transcript: [{ role: 'user', text: 'before' }] });
  expect(engine('codex').requests[0]?.transcript).toEqual([{ role: 'user', text: 'before' }]);
});

test('an engine that crashes before any output is retried once, also without a fallback', async () => {
  const { turn, engine, payloads } = await open({});
  const crash = fails('engine_crashed');
  engine('claude').script((request, signal) =>
    engine('claude').requests.length === 1 ? crash(request, signal) : answersAs('claude')(request, signal),
  );
  expect(textOf(await turn('one'))).toBe('claude: one');
  expect(payloads('engine')).toMatchObject([{ engine_id: 'claude', code: 'retry' }]);
  engine('claude').script(crash);
  expect(await turn('two')).toMatchObject({ error: 'engine_crashed' });
  expect(engine('claude').requests).toHaveLength(4);
});

test('an engine that crashes after output is not retried: the turn fails, and the next one works', async () => {
  const { turn, engine } = await open();
  engine('claude').script(fails('engine_crashed', [{ type: 'delta', text: 'half' }]));
  expect(await turn('one')).toMatchObject({ error: 'engine_crashed' });
  expect(engine('claude').requests).toHaveLength(1);
  expect(textOf(await turn('two'))).toContain(': two');
});

test('a turn is counted once, and the usage of the failed engine is reported', async () => {
  const { turn, engine, core, payloads } = await open();
  const usage = {
    input_tokens: 7,
    output_tokens: 1,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    estimated: false,
    cost_usd: null,
  };
  engine('claude').script(fails('engine_overloaded', [{ type: 'usage', usage }]));
  await turn('hello');
  expect(payloads('token-usage')).toMatchObject([
    { engine_id: 'claude', input_tokens: 7 },
    { engine_id: 'codex', estimated: true },
  ]);
  const row = await core.context.sessions.read('compat:c1:key');
  expect(row).toMatchObject({ turns: 1, engine_id: 'codex', engine_session_id: 'codex-session' });
});

test.each([
  ['with a price', 0.25, [0, 1]],
  ['without a price', null, [1, 0]],
])('the sums of usage count a turn once, if its failed run is %s', async (_name, cost_usd, turns) => {
  const { turn, engine, payloads } = await open();
  const tokens = { input_tokens: 7, output_tokens: 1, cache_read_tokens: 0, cache_write_tokens: 0 };
  const usage = { ...tokens, estimated: false, cost_usd };
  engine('claude').script(fails('engine_overloaded', [{ type: 'usage', usage }]));
  await turn('hello');
  expect(payloads('token-usage').map((payload) => payload['turns'] ?? 1)).toEqual(turns);
});

test('a title falls back to the next engine, too', async () => {
  const { core, engine } = await open();
  engine('claude').script(fails('engine_rate_limited'));
  engine('codex').script(async function* () {
    yield* says('Baking bread');
  });
  const answer = await core.app.inject({ method: 'POST', url: '/v2/title', payload: { text: 'how do I bake bread?' } });
  expect(answer.json()).toEqual({ ok: true, title: 'Baking bread' });
});

test("secrets in an engine's failure for a title are masked wherever it is shown later", async () => {
  const { core, engine, turn } = await open();
  const secret = 'a value only we know';
  core.context.knownSecrets.learn([secret]);
  engine('claude').script(fails('engine_rate_limited', [], 3_600_000, `No more for ${secret}.`));
  await core.app.inject({ method: 'POST', url: '/v2/title', payload: { text: 'how do I bake bread?' } });
  const list = (await core.app.inject('/v2/engines')).body;
  const result = await turn('hello');
  expect(result.warnings).toEqual([expect.stringContaining('No more for [redacted:')]);
  expect([list, JSON.stringify(result)].join()).not.toContain(secret);
});

test('on a public channel the reason for skipping an engine is masked as strictly as the reply', async () => {
  const { core, engine, turn } = await open();
  engine('claude').script(fails('engine_rate_limited', [], 3_600_000, 'The proxy 192.168.7.12 has no quota left.'));
  expect((await turn('private')).warnings).toEqual([expect.stringContaining('192.168.7.12')]);
  const answer = await core.handle(envelope('public', { conversation_key: 'compat:c1:other', public: true }));
  expect(answer.json<HandleResult>().warnings).toEqual([expect.stringMatching(/^claude is passed over .*\[redacted:/)]);
});
