import { afterEach, beforeEach, expect, test } from 'vitest';
import { openTestCollector, type TestCollector } from './open-test-collector.ts';

let collector: TestCollector;
beforeEach(() => {
  collector = openTestCollector();
});
afterEach(() => collector.close());

test('accepts one event or an array, which can be read right after', async () => {
  expect(await collector.ingest({ id: 'a', kind: 'inbound', text: 'hello', payload: { n: 1 } })).toEqual({
    status: 200,
    ingested: 1,
    rejected: [],
  });
  expect(
    await collector.ingest([
      { id: 'b', kind: 'x' },
      { id: 'c', kind: 'y', injected: true },
    ]),
  ).toMatchObject({ ingested: 2 });
  const events = await collector.events();
  expect(events.map(({ id }) => id)).toEqual(['c', 'b', 'a']);
  expect(events[2]).toEqual({
    id: 'a',
    ts: collector.clock.now(),
    received_at: collector.clock.now(),
    kind: 'inbound',
    surface: null,
    session: null,
    instance_id: null,
    identity: null,
    principal: null,
    text: 'hello',
    payload: { n: 1 },
    cost_usd: null,
    billed_cost_usd: null,
    billed: false,
    injected: false,
    request_id: null,
  });
});

test('a missing id and time are filled in', async () => {
  await collector.ingest([{ kind: 'inbound' }, { kind: 'inbound', id: null, ts: null }]);
  const events = await collector.events();
  expect(new Set(events.map(({ id }) => id)).size).toBe(2);
  expect(events.map(({ ts }) => ts)).toEqual([collector.clock.now(), collector.clock.now()]);
});

test('an event sent twice is stored once, and the answer is the same', async () => {
  const event = { id: 'same', kind: 'inbound', session: 's' };
  expect(await collector.ingest([event, event])).toMatchObject({ ingested: 2, rejected: [] });
  expect(await collector.ingest(event)).toMatchObject({ ingested: 1, rejected: [] });
  expect(await collector.events()).toHaveLength(1);
  expect((await collector.read<{ sessions: { events: number }[] }>('/api/sessions')).sessions[0]?.events).toBe(1);
});

const nested = (levels: number) => `{"kind":"tool","payload":{"a":${'['.repeat(levels)}${']'.repeat(levels)}}}`;
const invalid: [bad: string, error: string][] = [
  ['null', 'an event must be a JSON object'],
  ['[]', 'an event must be a JSON object'],
  ['5', 'an event must be a JSON object'],
  ['{}', 'kind is missing or empty'],
  ['{"kind":""}', 'kind is missing or empty'],
  ['{"kind":7}', 'kind must be a string'],
  [`{"kind":"${'k'.repeat(65)}"}`, 'kind is longer than 64'],
  [`{"kind":"x","id":"${'i'.repeat(129)}"}`, 'id is longer than 128'],
  ['{"kind":"x","id":""}', 'id is missing or empty'],
  ['{"kind":"x","ts":8640000000000001}', 'ts must be a number'],
  ['{"kind":"x","ts":1e999}', 'ts must be a number'],
  ['{"kind":"x","ts":"yesterday"}', 'ts must be a number'],
  ['{"kind":"x","surface":{}}', 'surface must be a string'],
  ['{"kind":"x","text":["a"]}', 'text must be a string'],
  [String.raw`{"kind":"x","session":"\ud800"}`, 'session has broken characters'],
  [String.raw`{"kind":"x","identity":"a\udfff"}`, 'identity has broken characters'],
  [String.raw`{"kind":"x","text":"cut here \ud83d"}`, 'text has broken characters'],
  [String.raw`{"kind":"x","payload":{"a":["\ud800"]}}`, 'payload.a.0 has broken characters'],
  [String.raw`{"kind":"x","payload":{"\ud800":1}}`, 'payload.\ufffd has broken characters'],
  ['{"kind":"x","payload":[]}', 'payload must be a JSON object'],
  ['{"kind":"x","payload":"p"}', 'payload must be a JSON object'],
  [`{"kind":"x","payload":{"a":"${'x'.repeat(300_000)}"}}`, 'payload is longer than'],
  [nested(100), 'payload is nested too deeply'],
  [nested(100_000), 'payload is nested too deeply'],
  ['{"kind":"x","cost_usd":-1}', 'cost_usd must be a number from 0'],
  ['{"kind":"x","billed_cost_usd":"1"}', 'billed_cost_usd must be a number from 0'],
  ['{"kind":"x","billed":1}', 'billed must be true or false'],
  ['{"kind":"token-usage","payload":{"input_tokens":-1}}', 'payload.input_tokens must be a number from 0'],
  ['{"kind":"token-usage","payload":{"output_tokens":"9"}}', 'payload.output_tokens must be a number from 0'],
  ['{"kind":"token-usage","payload":{"quantity":1e300,"feature":"tts"}}', 'payload.quantity must be a number from 0'],
  ['{"kind":"token-usage","payload":{"feature":{}}}', 'payload.feature must be a string'],
  ['{"kind":"token-usage","payload":{"estimated":"yes"}}', 'payload.estimated must be true or false'],
];
test.each(invalid.map(([bad, error], i) => ({ i, bad, error })))(
  'rejects an invalid event and accepts the others ($i: $error)',
  async ({ bad, error }) => {
    const body = `[{"id":"first","kind":"x"},${bad},{"id":"last","kind":"x"}]`;
    expect(await collector.ingest(body)).toEqual({
      status: 200,
      ingested: 2,
      rejected: [{ index: 1, error: expect.stringContaining(error) as string }],
    });
    expect((await collector.events()).map(({ id }) => id)).toEqual(['last', 'first']);
  },
);

test('stores hostile keys and texts unchanged', async () => {
  const body =
    '{"kind":"x","id":"h","text":"a\\u0000b \'; DROP TABLE event; --","payload":{"constructor":{"prototype":{"a":1}},"__proto__":{"b":2}}}';
  expect(await collector.ingest(body)).toMatchObject({ status: 200, ingested: 1 });
  const [event] = await collector.events();
  expect(JSON.stringify(event?.payload)).toBe('{"constructor":{"prototype":{"a":1}},"__proto__":{"b":2}}');
  expect(event?.text).toContain('DROP TABLE');
});

test('refuses a body that is not JSON, not UTF-8 or too large, with the right status', async () => {
  expect((await collector.ingest('{"kind":')).status).toBe(400);
  expect((await collector.ingest(`"${'x'.repeat(11 * 1024 * 1024)}"`)).status).toBe(413);
  // Decoded, the ids of both would be the same: the second event would be lost.
  const broken = Buffer.from('[{"kind":"x","id":"a?"},{"kind":"x","id":"a!"}]');
  broken[broken.indexOf('?')] = 0xff;
  broken[broken.indexOf('!')] = 0xfe;
  expect((await collector.ingest(broken)).status).toBe(400);
  expect((await collector.ingest('[]')).status).toBe(200);
});

test('stores all of a body with 100,000 events while it answers small later requests first', async () => {
  const order: string[] = [];
  const large = collector
    .ingest(Array.from({ length: 100_000 }, (_, i) => ({ id: `e${i}`, kind: 'x', ts: 1 })))
    .then((answer) => {
      order.push('large');
      return answer;
    });
  const small = collector.ingest({ id: 'small', kind: 'x' }).then(() => order.push('small'));
  expect(await large).toMatchObject({ ingested: 100_000, rejected: [] });
  await small;
  expect(order).toEqual(['small', 'large']);
  expect(await collector.context.db.get('SELECT count(*) AS n FROM event')).toEqual({ n: 100_001 });
});

test('answers 503 while nothing can be stored, which /health reports', async () => {
  collector.context.db.raw.exec('ALTER TABLE event RENAME TO event_gone');
  expect(await collector.ingest({ kind: 'x' })).toMatchObject({ status: 503, error: 'unavailable' });
  expect(await collector.read('/health')).toMatchObject({ status: 'degraded' });
  collector.context.db.raw.exec('ALTER TABLE event_gone RENAME TO event');
  expect(await collector.ingest({ kind: 'x' })).toMatchObject({ status: 200, ingested: 1 });
  expect(await collector.read('/health')).toMatchObject({ status: 'ok' });
});

/** The spec's kinds and who emits them. */
const ownEvents = [
  ...['inbound', 'thinking', 'tool', 'tool_result', 'outbound', 'token-usage'].map((kind) => ({ kind, session: 'compat:c:1' })),
  { kind: 'outbound', session: 'messenger:m:user:1', injected: true },
  { kind: 'progress', session: 'self-update:1800000000000', payload: { phase: 'fetch' } },
  { kind: 'a-kind-of-tomorrow', session: 'compat:c:1' },
];
test.each(ownEvents)('stores an event of the kind $kind unchanged ($session)', async (event) => {
  await collector.ingest({ ...event, text: 'words' });
  expect(await collector.events(`session=${event.session}`)).toEqual([expect.objectContaining({ ...event, text: 'words' })]);
});

test('a clock that jumps back loses no event and keeps the sums right', async () => {
  const use = () => ({ kind: 'token-usage', surface: 'compat', cost_usd: 1, payload: { input_tokens: 5 } });
  await collector.ingest([use(), use()]);
  const now = collector.clock.now();
  collector.clock.now = () => now - 5 * 24 * 3_600_000;
  expect(await collector.ingest(use())).toMatchObject({ ingested: 1, rejected: [] });
  const { usage } = await collector.read<{ usage: { turns: number; input_tokens: number; cost_usd: number }[] }>('/api/usage');
  expect(usage.map(({ turns, input_tokens, cost_usd }) => [turns, input_tokens, cost_usd])).toEqual([
    [2, 10, 2],
    [1, 5, 1],
  ]);
  // Events of a producer with the right time are then far in the future, and are accepted too.
  expect(await collector.ingest([{ ...use(), ts: now }, use()])).toMatchObject({ status: 200, ingested: 2, rejected: [] });
});

test('concurrent writes do not keep events from being stored, and are stored themselves', async () => {
  const { db, commitQueue } = collector.context;
  const answers: Promise<unknown>[] = [];
  for (let i = 0; i < 50; i++) {
    answers.push(commitQueue.submit([{ id: `e${i}`, kind: 'x' }]));
    // Right before the commit of the events, and in the turn of the loop that it is in.
    setImmediate(() => answers.push(db.run('INSERT INTO fact (name, value) VALUES (?, 1)', `f${i}`)));
    answers.push(db.run('INSERT INTO fact (name, value) VALUES (?, 1)', `g${i}`));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all(answers);
  expect(commitQueue.lastError).toBeNull();
  expect(await db.get("SELECT count(*) AS n FROM fact WHERE name GLOB '[fg][0-9]*'")).toEqual({ n: 100 });
  expect(await db.get('SELECT count(*) AS n FROM event')).toEqual({ n: 50 });
});
