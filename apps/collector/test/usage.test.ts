import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { UsageList } from '../src/usage/usage-store.ts';
import { openTestCollector, type TestCollector } from './open-test-collector.ts';

let collector: TestCollector;
beforeEach(() => {
  collector = openTestCollector();
});
afterEach(() => collector.close());

const hour = 3_600_000;
const usage = (since = 0) => collector.read<UsageList>(`/api/usage?since=${since}`);
const tokens = (fields: object, payload: object = {}) => ({
  kind: 'token-usage',
  ts: hour * 10 + 5,
  surface: 'compat',
  ...fields,
  payload,
});

test('turns are summed per hour, surface and raw identity, known or not', async () => {
  await collector.ingest([
    tokens(
      { identity: 'U1', principal: 'ann', cost_usd: 1, billed_cost_usd: 0.5 },
      { input_tokens: 10, output_tokens: 1, cache_read_tokens: 2, cache_write_tokens: 3 },
    ),
    tokens({ identity: 'U1', cost_usd: 2 }, { principal: 'ann', input_tokens: 5, estimated: true }),
    tokens({ identity: 'u2' }, { principal: 'ann', input_tokens: 5 }),
    tokens({ identity: 'Bob ' }, { input_tokens: 1 }),
    tokens({ identity: 'bob' }, { input_tokens: 1 }),
    tokens({ identity: 'ANN' }, { input_tokens: 7 }),
    tokens({ identity: 'bob', ts: hour * 11 }, { input_tokens: 1 }),
    { kind: 'outbound', surface: 'compat', identity: 'bob', cost_usd: 99 },
  ]);
  const { usage: rows, aux, truncated } = await usage();
  expect({ aux, truncated }).toEqual({ aux: [], truncated: false });
  expect(rows[0]).toMatchObject({ bucket_hour: hour * 11, identity: 'bob', turns: 1 });
  expect(rows.map(({ identity, principal, turns }) => [identity, principal, turns])).toEqual([
    ['bob', null, 1],
    ['u2', 'ann', 1],
    ['bob', null, 1],
    ['U1', 'ann', 2],
    ['Bob ', null, 1],
    ['ANN', null, 1],
  ]);
  expect(rows.find((row) => row.identity === 'U1')).toEqual({
    bucket_hour: hour * 10,
    surface: 'compat',
    identity: 'U1',
    principal: 'ann',
    turns: 2,
    input_tokens: 15,
    output_tokens: 1,
    cache_read_tokens: 2,
    cache_write_tokens: 3,
    estimated_turns: 1,
    unpriced_turns: 0,
    cost_usd: 3,
    billed_cost_usd: 0.5,
  });
});

test('counts as many turns as an event reports, including none', async () => {
  await collector.ingest([
    tokens({ identity: 'x' }, { input_tokens: 4, turns: 3 }),
    tokens({ identity: 'x', cost_usd: 1 }, { input_tokens: 4, turns: 0 }),
  ]);
  expect((await usage()).usage).toMatchObject([{ turns: 3, unpriced_turns: 3, input_tokens: 8, cost_usd: 1 }]);
});

test('side calls are summed separately, by feature, provider, model and unit', async () => {
  const speech = { feature: 'tts', provider: 'p', model: 'm', units: 'characters', quantity: 120 };
  await collector.ingest([
    tokens({ cost_usd: 0.1, billed_cost_usd: 0.1 }, speech),
    tokens({ cost_usd: 0.1, billed_cost_usd: 0.1 }, speech),
    tokens({}, { feature: 'moderation', input_tokens: 30, output_tokens: 2 }),
  ]);
  const { usage: rows, aux } = await usage();
  expect(rows).toEqual([]);
  const base = { bucket_hour: hour * 10, surface: 'compat' };
  expect(aux.toSorted((a, b) => a.feature.localeCompare(b.feature))).toEqual([
    {
      ...base,
      feature: 'moderation',
      provider: 'unknown',
      model: 'unknown',
      units: 'tokens',
      calls: 1,
      unpriced_calls: 1,
      quantity: 32,
      cost_usd: 0,
      billed_cost_usd: 0,
    },
    {
      ...base,
      feature: 'tts',
      provider: 'p',
      model: 'm',
      units: 'characters',
      calls: 2,
      unpriced_calls: 0,
      quantity: 240,
      cost_usd: 0.2,
      billed_cost_usd: 0.2,
    },
  ]);
});

test('since includes the hour that it is in', async () => {
  await collector.ingest([tokens({ ts: hour * 10 }), tokens({ ts: hour * 11 })]);
  expect((await usage(hour * 11 + 30)).usage).toHaveLength(1);
  expect((await usage(hour * 10 + 30)).usage).toHaveLength(2);
});

const count = fc.integer({ min: 0, max: 100_000 });
const valid = fc.record({
  id: fc.integer({ min: 0, max: 30 }).map(String),
  kind: fc.constantFrom('token-usage', 'token-usage', 'inbound'),
  ts: fc.integer({ min: 0, max: 3 * hour }),
  surface: fc.constantFrom('compat', 'chatroom', null),
  identity: fc.constantFrom('A', 'a', 'b', null),
  principal: fc.constantFrom('a', null),
  cost_usd: fc.integer({ min: 0, max: 64 }).map((n) => n / 64),
  payload: fc.record(
    { input_tokens: count, output_tokens: count, estimated: fc.boolean(), feature: fc.constantFrom('tts', '', undefined) },
    { requiredKeys: [] },
  ),
});
type Candidate = { id: string; ts: number; cost_usd?: number; payload?: { input_tokens?: number } };
const invalid = fc.constantFrom<unknown>(
  null,
  3,
  [],
  {},
  { kind: 5 },
  tokens({ id: '1' }, { input_tokens: -4 }),
  tokens({ id: '2', cost_usd: -1 }),
  tokens({ id: '3', ts: 9e15 }),
);

test('with any mix of repeated and invalid events the sums equal those of the distinct valid ones', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.oneof({ weight: 4, arbitrary: valid }, { weight: 1, arbitrary: invalid }), { maxLength: 20 }), {
        maxLength: 6,
      }),
      async (batches) => {
        const own = openTestCollector();
        try {
          await Promise.all(batches.map((batch) => own.ingest(batch)));
          const stored = await own.context.db.all<{ kind: string; payload: string; cost_usd: number }>('SELECT * FROM event');
          const billed = stored
            .filter(({ kind }) => kind === 'token-usage')
            .map((event) => ({
              ...event,
              payload: JSON.parse(event.payload) as { input_tokens?: number; estimated?: boolean; feature?: string },
            }));
          const turns = billed.filter(({ payload }) => !payload.feature);
          const side = billed.filter(({ payload }) => payload.feature);
          const list = await own.read<UsageList>('/api/usage');
          const sum = (values: (number | undefined)[]) => values.reduce<number>((total, value) => total + (value ?? 0), 0);
          expect(sum(list.usage.map((row) => row.turns))).toBe(turns.length);
          expect(sum(list.usage.map((row) => row.input_tokens))).toBe(sum(turns.map(({ payload }) => payload.input_tokens)));
          expect(sum(list.usage.map((row) => row.estimated_turns))).toBe(turns.filter(({ payload }) => payload.estimated).length);
          expect(sum(list.usage.map((row) => row.cost_usd))).toBe(sum(turns.map((event) => event.cost_usd)));
          expect(sum(list.aux.map((row) => row.calls))).toBe(side.length);
          expect(stored.length).toBe(
            new Set(
              batches
                .flat()
                .filter(isValid)
                .map((event) => event.id),
            ).size,
          );
        } finally {
          await own.close();
        }
      },
    ),
    { numRuns: 40 },
  );
});

/** The invalid ones of this property either have no id or a number out of its bounds. */
function isValid(event: unknown): event is Candidate {
  const { id, ts, cost_usd = 0, payload } = (event ?? {}) as Partial<Candidate>;
  return id !== undefined && ts !== undefined && ts < 9e15 && cost_usd >= 0 && (payload?.input_tokens ?? 0) >= 0;
}
