import type { TelemetryEvent } from '@svc/contract/event.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { openTestCollector, type TestCollector } from './open-test-collector.ts';

let collector: TestCollector | null = null;
afterEach(() => collector?.close());
const open = (env: Record<string, string> = {}) => (collector = openTestCollector(env));

const dayMs = 24 * 3_600_000;
const yearMs = 365 * dayMs;
const turn = { kind: 'token-usage', surface: 'compat', session: 's', payload: { input_tokens: 5 } };
type Usage = { usage: { turns: number; bucket_hour: number }[] };

test.each([
  ['two years ahead', 2 * yearMs],
  ['ten minutes ahead', 600_000],
  ['before 1970', -80 * yearMs],
])(
  'an event with a clock %s keeps its own time and the time it came, and is ordered by the time it came',
  async (_name, byMs) => {
    const { clock, ingest, events, read } = open();
    const now = clock.now();
    await ingest({ id: 'before', kind: 'x', ts: now - 1000 });
    const wrong = { ...turn, id: 'wrong', ts: now + byMs };
    expect(await ingest([wrong, wrong])).toMatchObject({ ingested: 2, rejected: [] });
    clock.advance(1000);
    await ingest({ id: 'after', kind: 'x' });
    const all = await events();
    expect(all.map(({ id }) => id)).toEqual(['after', 'wrong', 'before']);
    expect(all[1]).toMatchObject({ ts: now + byMs, received_at: now });
    const { usage } = await read<Usage>('/api/usage');
    expect(usage).toMatchObject([{ turns: 1, bucket_hour: now - (now % 3_600_000) }]);
  },
);

test('an event from long ago is ordered by its own time, and is not removed before its days are over', async () => {
  const { clock, context, ingest, events, read } = open({ SVC_RETENTION_DAYS: '30' });
  await ingest([
    { ...turn, id: 'old', ts: 7_200_000 },
    { id: 'newest', kind: 'x' },
  ]);
  for (let hour = 0; hour < 3; hour++) await context.retention.run();
  expect((await events()).map(({ id }) => id)).toEqual(['newest', 'old']);
  expect((await events())[1]).toMatchObject({ ts: 7_200_000, received_at: clock.now() });
  expect((await read<Usage>('/api/usage')).usage).toMatchObject([{ turns: 1, bucket_hour: 7_200_000 }]);
});

test('pages continue correctly at events that are ordered by the time they came', async () => {
  const { clock, ingest, read } = open();
  await ingest([1, 2, 3].map((n) => ({ id: `e${n}`, kind: 'x', ts: clock.now() + n * yearMs })));
  const page = await read<{ events: TelemetryEvent[]; next_before: string }>('/api/events?limit=2');
  expect(page.events.map(({ id }) => id)).toEqual(['e3', 'e2']);
  const next = await read<{ events: TelemetryEvent[] }>(`/api/events?before=${page.next_before}`);
  expect(next.events.map(({ id }) => id)).toEqual(['e1']);
});

test('retention also respects the time an event came', async () => {
  const { clock, context, ingest, events } = open({ SVC_RETENTION_DAYS: '30' });
  await ingest([
    { id: 'late', kind: 'x', ts: clock.now() - 100 * dayMs },
    { id: 'newest', kind: 'x' },
  ]);
  await context.retention.run();
  expect((await events()).map(({ id }) => id)).toEqual(['newest', 'late']);
  clock.advance(31 * dayMs);
  await context.retention.run();
  await context.retention.run();
  expect((await events()).map(({ id }) => id)).toEqual(['newest']);
});

test('a clock that is set forward by years removes no recent events, also after a restart', async () => {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const env = { SVC_RETENTION_DAYS: '30', SVC_DATA_DIR: folder.path };
  const before = open(env);
  await before.ingest([
    { id: 'young', kind: 'x' },
    { id: 'newest', kind: 'x' },
  ]);
  await before.context.retention.run();
  before.clock.setBack(-3 * yearMs);
  for (let hour = 0; hour < 5; hour++) await before.context.retention.run();
  expect((await before.events()).map(({ id }) => id)).toEqual(['newest', 'young']);
  await before.close();
  const { clock, context, ingest, events } = open(env);
  clock.setBack(-3 * yearMs);
  for (let hour = 0; hour < 5; hour++) await context.retention.run();
  expect((await events()).map(({ id }) => id)).toEqual(['newest', 'young']);
  clock.setBack(3 * yearMs);
  await context.retention.run();
  await ingest({ id: 'right again', kind: 'x' });
  expect((await events()).map(({ id }) => id)).toContain('right again');
});

test('facts of a session recorded with a clock ahead are replaced once the clock is right again', async () => {
  const { clock, ingest, read } = open();
  const say = (id: string, kind: string, text?: string) =>
    ingest({ id, kind, session: 's', surface: 'compat', text, ts: clock.now() });
  clock.setBack(-2 * yearMs);
  await say('wrong', 'inbound', 'from the future');
  clock.setBack(2 * yearMs);
  const now = clock.now();
  await say('right', 'outbound', 'now');
  const { sessions } = await read<{ sessions: { last_event_at: number; last_text: string }[] }>('/api/sessions');
  expect(sessions).toMatchObject([{ last_event_at: now, last_text: 'now' }]);
});

test('events made older than others by a clock set back are kept', async () => {
  const { clock, ingest, events } = open();
  await ingest({ id: 'first', kind: 'x' });
  clock.setBack(5 * yearMs);
  await ingest({ id: 'second', kind: 'x', ts: clock.now() });
  expect((await events()).map(({ id, ts, received_at }) => [id, ts === received_at])).toEqual([
    ['first', true],
    ['second', true],
  ]);
});
