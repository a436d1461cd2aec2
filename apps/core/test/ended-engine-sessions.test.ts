import { afterEach, beforeEach, expect, test } from 'vitest';
import type { EngineRequest } from '@svc/engine-kit/engine.ts';
import { createFakeClock, type FakeClock } from '@svc/testing/fake-clock.ts';
import { createScriptedEngine, says, type EngineScript } from '@svc/testing/scripted-engine.ts';
import type { EngineId } from '../src/engine/load-engine.ts';
import { pruneJournal } from '../src/turn/prune-journal.ts';
import { envelope, openTestCore, type TestCore } from './open-test-core.ts';

const hourMs = 60 * 60_000;
const dayMs = 24 * hourMs;
let clock: FakeClock;
let core: TestCore;
let stopPruning = () => undefined as void;
let engines: Map<EngineId, ReturnType<typeof createScriptedEngine>>;
let made = 0;

/** Begins a new session for each turn that does not resume one. */
const script: EngineScript = async function* ({ text, resume, conversationKey }: EngineRequest) {
  if (text === 'too much' && resume === null && conversationKey.endsWith('moved'))
    return yield { type: 'failed', failure: { code: 'engine_rate_limited', message: 'later', retryable: true } };
  const known = resume !== null && text !== 'you do not know me';
  yield { type: 'session', engineSessionId: known ? resume : `s-${++made}`, resumed: known, model: null };
  yield* says(`re: ${text}`);
};

async function open(dataDir?: string, env: Record<string, string> = {}): Promise<TestCore> {
  engines = new Map();
  const opened = await openTestCore({
    clock,
    ...(dataDir !== undefined && { dataDir }),
    env: { SVC_DEFAULT_ENGINE: 'claude', SVC_HISTORY_DAYS: '3', ...env },
    loadEngine: (id) => {
      const engine = createScriptedEngine(id);
      engine.script(script);
      engines.set(id, engine);
      return Promise.resolve(() => engine);
    },
  });
  stopPruning = pruneJournal(opened.context);
  return opened;
}

beforeEach(async () => {
  clock = createFakeClock();
  made = 0;
  core = await open();
});
afterEach(() => {
  stopPruning();
  core.drop();
});

const say = (text: string, key = 'compat:c1:own') => core.handle(envelope(text, { conversation_key: key }));
const forgotten = (id: EngineId = 'claude') => engines.get(id)?.forgotten ?? [];
const waiting = () => core.context.db.raw.prepare('SELECT engine_id, engine_session_id FROM ended_engine_session').all().length;
const settled = () => expect.poll(waiting).toBe(0);
const forget = (key: string) => core.app.inject({ method: 'DELETE', url: `/v2/session/${encodeURIComponent(key)}` });

test('an engine session is removed by /new and when its conversation is forgotten', async () => {
  await say('hi');
  await say('hi', 'compat:c1:other');
  await say('and on');
  await say('/new');
  await expect.poll(() => forgotten()).toEqual(['s-1']);
  await say('once more');
  expect((await forget('compat:c1:own')).statusCode).toBe(200);
  await expect.poll(() => forgotten()).toEqual(['s-1', 's-3']);
  await settled();
});

test('the sessions of engines that answered earlier are removed, too', async () => {
  await say('hi');
  core.context.db.raw
    .prepare(
      `UPDATE session SET parked_sessions = '{"gemini":{"id":"g-1","turns":1},"old":{"id":"o-1","turns":1},"codex":{"id":"","turns":0}}'`,
    )
    .run();
  await say('/new');
  await expect.poll(() => forgotten('gemini')).toEqual(['g-1']);
  await settled();
  expect(forgotten()).toEqual(['s-1']);
  expect(forgotten('codex')).toEqual([]);
});

test('a session that the engine did not resume is removed once another replaces it', async () => {
  await say('hi');
  await say('you do not know me');
  clock.advance(hourMs);
  await expect.poll(() => forgotten()).toEqual(['s-1']);
  await say('still there?');
  expect(engines.get('claude')?.requests.at(-1)?.resume).toBe('s-2');
});

test('an idle conversation loses its engine session after the history period; used and claimed ones keep theirs', async () => {
  await say('hi', 'compat:c1:idle');
  await say('hi', 'compat:c1:claimed');
  await core.context.claims.claim('compat:c1:claimed', 'ann');
  clock.advance(2 * dayMs);
  await say('hi', 'compat:c1:used');
  clock.advance(23 * hourMs);
  expect(forgotten()).toEqual([]);
  clock.advance(3 * hourMs);
  await expect.poll(() => forgotten()).toEqual(['s-1']);
  await settled();
  await say('back again', 'compat:c1:idle');
  await say('and on', 'compat:c1:used');
  expect(
    engines
      .get('claude')
      ?.requests.slice(-2)
      .map(({ resume }) => resume),
  ).toEqual([null, 's-3']);
});

test('more than a thousand idle conversations lose their sessions in one pass', async () => {
  const insert = core.context.db.raw.prepare(
    `INSERT INTO session (conversation_key, surface, public, cwd, last_announce_id, fence, created_at, last_active_at, engine_id, engine_session_id)
     VALUES (?, 'compat', 0, '', 0, 1, 0, ?, 'claude', ?)`,
  );
  await say('hi'); // makes the engine
  for (let i = 0; i < 1_201; i++) insert.run(`compat:c1:${i}`, clock.now(), `old-${i}`);
  clock.advance(3 * dayMs + 2 * hourMs);
  await expect.poll(() => forgotten().length, { timeout: 30_000 }).toBe(1_202);
  await settled();
});

test('a failed removal is reported, survives a crash and is retried', async () => {
  await say('hi');
  const engine = engines.get('claude');
  if (engine === undefined) throw new Error('no engine');
  engine.forget = () => Promise.reject(new Error('Claude is away.'));
  await say('/new');
  const notices = async () => (await core.app.inject('/health')).json<{ notices: string[] }>().notices;
  await expect
    .poll(notices)
    .toEqual([
      expect.stringMatching(/^The records that claude keeps of forgotten conversations .* again every hour: Claude is away\.$/),
    ]);
  stopPruning();
  core = await open(core.crash());
  clock.advance(61_000);
  await expect.poll(() => forgotten()).toEqual(['s-1']);
  await settled();
  expect(await notices()).toEqual([]);
});

test('sessions that cannot be removed do not block the removal of others', async () => {
  for (let i = 1; i <= 8; i++) await say('hi', `compat:c1:${i}`);
  const engine = engines.get('claude');
  if (engine === undefined) throw new Error('no engine');
  const { forget: remove } = engine;
  const stuck = new Set(['s-1', 's-2', 's-3', 's-4']);
  engine.forget = (id) => (stuck.has(id) ? Promise.reject(new Error('no')) : (remove?.(id) ?? Promise.resolve()));
  for (let i = 1; i <= 8; i++) await forget(`compat:c1:${i}`);
  clock.advance(3 * hourMs);
  await expect.poll(() => [...forgotten()].toSorted()).toEqual(['s-5', 's-6', 's-7', 's-8']);
  expect(waiting()).toBe(4);
});

test('a failed removal in another conversation does not block an erasure', async () => {
  await say('hi');
  const engine = engines.get('claude');
  if (engine === undefined) throw new Error('no engine');
  const { forget: remove } = engine;
  engine.forget = (id) => (id === 's-1' ? Promise.reject(new Error('no')) : (remove?.(id) ?? Promise.resolve()));
  await say('/new');
  await expect.poll(() => core.context.endedEngineSessions.notices()).not.toEqual([]);
  clock.advance(1000);
  await core.addPrincipal('ann', 'guest');
  await core.handle(envelope('hi', { conversation_key: 'compat:c1:ann', sender: { raw_id: 'ann', raw_username: 'ann' } }));
  const erased = await core.app.inject({ method: 'POST', url: '/trust/principals/ann/erase', payload: {} });
  expect(erased.statusCode).toBe(200);
  expect(forgotten()).toEqual(['s-2']);
  expect(waiting()).toBe(1);
});

test('a person is not erased while an engine still has a session of theirs', async () => {
  await core.addPrincipal('ann', 'guest');
  await core.handle(envelope('hi', { conversation_key: 'compat:c1:ann', sender: { raw_id: 'ann', raw_username: 'ann' } }));
  const engine = engines.get('claude');
  if (engine === undefined) throw new Error('no engine');
  const { forget: remove } = engine;
  engine.forget = () => Promise.reject(new Error('Claude is away.'));
  const erase = () => core.app.inject({ method: 'POST', url: '/trust/principals/ann/erase', payload: {} });
  const refused = await erase();
  expect(refused.statusCode).toBe(503);
  expect(refused.json<{ message: string }>().message).toContain('Claude is away.');
  engine.forget = remove;
  clock.advance(61_000);
  await expect.poll(() => forgotten()).toEqual(['s-1']);
  await expect.poll(() => core.context.erasures.notices()).toEqual([]);
});
