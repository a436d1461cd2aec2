import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ListedSession } from '@svc/contract/session.ts';
import { listedSession } from '@svc/testing/listed-session.ts';
import type { EventPage } from '../src/event/event-store.ts';
import { openTestCollector, type TestCollector } from './open-test-collector.ts';

let collector: TestCollector;
let now: number;
beforeEach(() => {
  collector = openTestCollector();
  now = collector.clock.now();
});
afterEach(() => collector.close());

const page = (query: string) => collector.read<EventPage>(`/api/events?${query}`);
const ids = async (query: string) => (await page(query)).events.map(({ id }) => id);
const sessions = async (query = '') => (await collector.read<{ sessions: ListedSession[] }>(`/api/sessions?${query}`)).sessions;

test('events are filtered by surface, identity, session and time, newest first', async () => {
  await collector.ingest([
    { id: '1', kind: 'x', ts: 100, surface: 'compat', identity: 'ann', session: 'a' },
    { id: '4', kind: 'x', ts: 400, surface: 'compat', identity: 'bob', session: 'b' },
    { id: '3', kind: 'x', ts: 300, surface: 'chatroom', identity: 'ann', session: 'c' },
    { id: '2', kind: 'x', ts: 200, surface: 'chatroom', identity: 'bob', session: 'c' },
  ]);
  expect(await ids('')).toEqual(['4', '3', '2', '1']);
  expect(await ids('surface=compat')).toEqual(['4', '1']);
  expect(await ids('identity=ann')).toEqual(['3', '1']);
  expect(await ids('session=c')).toEqual(['3', '2']);
  expect(await ids('since=200&surface=chatroom&identity=ann')).toEqual(['3']);
  expect(await ids('session=c&identity=bob')).toEqual(['2']);
  expect(await ids('since=201')).toEqual(['4', '3']);
  expect(await ids('session=nothing')).toEqual([]);
});

test('events are filtered by kind, together with every other filter', async () => {
  await collector.ingest([
    { id: '1', kind: 'denied', ts: 100, surface: 'compat', identity: 'ann', session: 'a' },
    { id: '2', kind: 'turn', ts: 200, surface: 'compat', identity: 'ann', session: 'a' },
    { id: '3', kind: 'denied', ts: 300, surface: 'email', identity: 'bob', session: 'b' },
  ]);
  expect(await ids('kind=denied')).toEqual(['3', '1']);
  expect(await ids('kind=denied&since=101')).toEqual(['3']);
  expect(await ids('kind=denied&surface=compat')).toEqual(['1']);
  expect(await ids('kind=turn&identity=ann')).toEqual(['2']);
  expect(await ids('kind=denied&session=a')).toEqual(['1']);
});

test('pages follow one another without a gap or a repeat, also within one millisecond', async () => {
  await collector.ingest(
    Array.from({ length: 1100 }, (_, i) => ({ id: `e${i}`, kind: 'x', ts: 50, session: i % 2 === 0 ? 'even' : 'odd' })),
  );
  for (const filter of ['', 'session=even', 'surface=none']) {
    const seen: string[] = [];
    let query = `limit=300&${filter}`;
    for (let next = ''; ; query = `limit=300&${filter}&before=${next}`) {
      const { events, next_before } = await page(query);
      seen.push(...events.map(({ id }) => id));
      if (next_before === null) break;
      next = next_before;
    }
    const expected = filter === '' ? 1100 : filter === 'session=even' ? 550 : 0;
    expect(new Set(seen).size).toBe(expected);
    expect(seen).toHaveLength(expected);
  }
});

test('a filter that rarely matches ends its page early and says where to continue', async () => {
  const crowd = Array.from({ length: 25_000 }, (_, i) => ({ kind: 'x', ts: 1000 + i, session: 'crowd', identity: 'many' }));
  await collector.ingest([{ id: 'needle', kind: 'x', ts: 1, session: 'crowd', identity: 'one' }, ...crowd]);
  const first = await page('session=crowd&identity=one');
  expect(first.events).toEqual([]);
  expect(first.next_before).not.toBeNull();
  expect(await ids(`session=crowd&identity=one&before=${first.next_before}`)).toEqual(['needle']);
});

test('a page of large events ends early instead of growing without bound', async () => {
  await collector.ingest(Array.from({ length: 35 }, () => ({ kind: 'x', text: 'x'.repeat(200_000) })));
  const { events, next_before } = await page('limit=1000');
  expect(events.length).toBeLessThan(25);
  expect(next_before).not.toBeNull();
});

test.each([
  ['/api/events?limit=-1', 400],
  ['/api/events?limit=NaN', 400],
  ['/api/events?limit=1e9', 400],
  ['/api/events?limit=1&limit=2', 400],
  ['/api/events?limit=999999999', 200],
  ['/api/events?limit=0', 200],
  ['/api/events?since=abc', 400],
  ['/api/events?before=nobody', 400],
  ['/api/sessions?active=perhaps', 400],
  ['/api/sessions?limit=1.5', 400],
  ['/api/sessions?before=x', 400],
  ['/api/usage?since=-5', 400],
  ['/api/usage?since=9999999999999999', 200],
])('%s answers %i', async (url, status) => {
  expect((await collector.app.inject(url)).statusCode).toBe(status);
});

test('caps the limit at 1000', async () => {
  await collector.ingest(Array.from({ length: 1200 }, () => ({ kind: 'x' })));
  expect(await ids('limit=5000')).toHaveLength(1000);
  expect(await ids('')).toHaveLength(100);
});

const turn = (what: string, ts: number, session = 's') => ({ kind: 'turn', ts, session, payload: { what } });

test('derives a session from its events: sender, times, turns, state, last text, tokens', async () => {
  await collector.ingest([
    { kind: 'inbound', ts: now - 50, session: 's', surface: 'compat', identity: 'u1', principal: 'ann', text: 'question' },
    turn('started', now - 40),
    { kind: 'tool_result', ts: now - 30, session: 's', text: 'inner' },
  ]);
  await collector.ingest([
    {
      kind: 'token-usage',
      ts: now - 20,
      session: 's',
      cost_usd: 0.5,
      billed_cost_usd: 0.25,
      payload: { input_tokens: 3, output_tokens: 4 },
    },
    { kind: 'token-usage', ts: now - 20, session: 's', cost_usd: 0.5, payload: { input_tokens: 100, feature: 'moderation' } },
    { kind: 'outbound', ts: now - 10, session: 's', text: 'answer' },
  ]);
  expect(await sessions()).toEqual([
    listedSession('s', {
      surface: 'compat',
      identity: 'u1',
      principal: 'ann',
      state: 'running',
      active: true,
      first_event_at: now - 50,
      last_event_at: now - 10,
      last_text: 'answer',
      events: 6,
      turns: 1,
      input_tokens: 3,
      output_tokens: 4,
      cost_usd: 1,
      billed_cost_usd: 0.25,
    }),
  ]);
  await collector.ingest(turn('ended', now));
  expect((await sessions())[0]).toMatchObject({ state: 'idle', turns: 1, last_text: 'answer' });
});

test('a session of unpriced turns has no cost, instead of 0; any other says how many turns its cost leaves out', async () => {
  const used = (cost_usd: number | null, payload = {}) => ({ kind: 'token-usage', session: 's', cost_usd, payload });
  await collector.ingest([used(null), used(null, { feature: 'tts' })]);
  expect((await sessions())[0]).toMatchObject({ cost_usd: null, unpriced: 2 });
  await collector.ingest(used(0.5));
  expect((await sessions())[0]).toMatchObject({ cost_usd: 0.5, unpriced: 2 });
});

test('counts a turn without state events by its message, but no observed messages and no chat commands', async () => {
  await collector.ingest([
    { kind: 'inbound', session: 's', text: 'hi', payload: {} },
    { kind: 'outbound', session: 's', text: 'hello' },
    { kind: 'inbound', session: 's', text: 'among themselves', payload: { observed: true } },
    { kind: 'inbound', session: 's', text: '/help', payload: { command: true } },
  ]);
  expect((await sessions())[0]).toMatchObject({ turns: 1, events: 4 });
});

test('an older turn event that arrives late does not change the state', async () => {
  await collector.ingest(turn('ended', 200));
  await collector.ingest(turn('started', 100));
  expect((await sessions())[0]).toMatchObject({ state: 'idle', first_event_at: 100, last_event_at: 200 });
});

test('denied senders and queued messages make no session', async () => {
  await collector.ingest([
    { kind: 'denied', session: 's' },
    { kind: 'queued', session: 's' },
    { kind: 'turn', session: 's', payload: { what: 'ended', outcome: 'denied' } },
  ]);
  expect(await sessions()).toEqual([]);
});

test('a restart of the core ends the turns that began before it', async () => {
  const coreStart = { kind: 'service', ts: now, payload: { service: 'core', what: 'started' } };
  await collector.ingest([turn('started', now - 10, 'crashed'), turn('started', now + 5, 'new')]);
  await collector.ingest({ kind: 'service', ts: now, payload: { service: 'manager', what: 'started' } });
  expect((await sessions()).map(({ state }) => state)).toEqual(['running', 'running']);
  await collector.ingest(coreStart);
  await collector.ingest(turn('started', now - 5, 'late'));
  const states = Object.fromEntries((await sessions()).map(({ conversation_key, state }) => [conversation_key, state]));
  expect(states).toEqual({ crashed: 'idle', new: 'running', late: 'idle' });
});

test('active sessions are those with a running turn or an event of the last 15 minutes', async () => {
  const old = now - 16 * 60_000;
  await collector.ingest([
    { kind: 'inbound', ts: now - 1000, session: 'recent' },
    { kind: 'inbound', ts: old, session: 'old' },
    turn('started', old, 'long turn'),
    turn('started', now - 500, 'turn'),
  ]);
  const keys = async (query: string) => (await sessions(query)).map(({ conversation_key }) => conversation_key);
  expect(await keys('active=1')).toEqual(['turn', 'recent', 'long turn']);
  expect(await keys('active=1&limit=2')).toEqual(['turn', 'recent']);
  expect((await keys('')).toSorted()).toEqual(['long turn', 'old', 'recent', 'turn']);
  expect(await keys(`before=${now - 500}&limit=1`)).toEqual(['recent']);
});
