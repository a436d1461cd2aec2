import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { TelemetryEvent } from '@svc/contract/event.ts';
import type { UsageList } from '../src/usage/usage-store.ts';
import { openTestCollector } from './open-test-collector.ts';

const hour = 3_600_000;
/** Sums of fractions are compared by the billionth of a dollar, to which every cost is rounded when it is made. */
const inBillionths = (usd: number): number => Math.round(usd * 1e9);
const sum = (values: (number | null)[]): number => inBillionths(values.reduce<number>((total, value) => total + (value ?? 0), 0));

const cost = fc.oneof(
  fc.constant(null),
  fc.constant(0),
  fc.integer({ min: 1, max: 3_000_000_000 }).map((n) => n / 1e9),
);
/** An event as the core makes it: billed runs are billed in full, others for nothing. */
const event = fc
  .record({
    id: fc.integer({ min: 0, max: 60 }).map(String),
    // Few keys, so that rows are added to more than once.
    ts: fc.constantFrom(0, hour - 1, hour),
    surface: fc.constantFrom('compat', 'messenger'),
    identity: fc.constantFrom('Anna', 'anna', '4711'),
    principal: fc.constantFrom('anna', null),
    cost_usd: cost,
    billed: fc.boolean(),
    feature: fc.constantFrom('title', 'tts', undefined),
    model: fc.constantFrom('m-1', null),
    provider: fc.constant('claude'),
    input_tokens: fc.integer({ min: 0, max: 100_000 }),
  })
  .map(({ feature, model, provider, input_tokens, ...rest }) => ({
    ...rest,
    kind: 'token-usage',
    billed_cost_usd: rest.billed ? rest.cost_usd : 0,
    payload: { feature, provider, model, input_tokens, priced: rest.cost_usd !== null },
  }));

test('the ledger equals the sums of the stored events, for both costs and unpriced events, in any batches', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(event, { maxLength: 25 }), { maxLength: 5 }), async (batches) => {
      const collector = openTestCollector();
      try {
        // One commit after the other, so that sums grow in the table; then all of them again at once.
        for (const batch of batches) await collector.ingest(batch);
        await Promise.all(batches.map((batch) => collector.ingest(batch)));
        const events = await collector.context.db.all<Omit<TelemetryEvent, 'payload'> & { payload: string }>(
          'SELECT * FROM event',
        );
        const side = events.filter(({ payload }) => (JSON.parse(payload) as { feature?: string }).feature !== undefined);
        const turns = events.filter((each) => !side.includes(each));
        const { usage, aux } = await collector.read<UsageList>('/api/usage?since=0');
        expect(sum(usage.map((row) => row.cost_usd))).toBe(sum(turns.map((each) => each.cost_usd)));
        expect(sum(usage.map((row) => row.billed_cost_usd))).toBe(sum(turns.map((each) => each.billed_cost_usd)));
        expect(sum(aux.map((row) => row.cost_usd))).toBe(sum(side.map((each) => each.cost_usd)));
        expect(sum(aux.map((row) => row.billed_cost_usd))).toBe(sum(side.map((each) => each.billed_cost_usd)));
        const unpriced = (list: typeof events) => list.filter((each) => each.cost_usd === null).length;
        expect(usage.reduce((total, row) => total + row.unpriced_turns, 0)).toBe(unpriced(turns));
        expect(aux.reduce((total, row) => total + row.unpriced_calls, 0)).toBe(unpriced(side));
        const keys = (rows: object[], ...fields: string[]) =>
          rows.map((row) => JSON.stringify(Object.entries(row).filter(([field]) => fields.includes(field))));
        expect(new Set(keys(usage, 'bucket_hour', 'surface', 'identity', 'principal')).size).toBe(usage.length);
        expect(new Set(keys(aux, 'bucket_hour', 'surface', 'feature', 'provider', 'model', 'units')).size).toBe(aux.length);
      } finally {
        await collector.close();
      }
    }),
    { numRuns: 30 },
  );
});
