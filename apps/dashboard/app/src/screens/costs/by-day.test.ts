import type { UsageRollup } from '@svc/contract/usage.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { byDay, sumOf } from './by-day.ts';

const hour = 3_600_000;
const since = new Date(2026, 2, 20).getTime();
const row = (bucket_hour: number, cost_usd: number): UsageRollup => ({
  bucket_hour,
  surface: 'web',
  identity: 'a',
  principal: null,
  turns: 1,
  input_tokens: 1,
  output_tokens: 1,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  estimated_turns: 0,
  unpriced_turns: 0,
  cost_usd,
  billed_cost_usd: 0,
});

test('loses nothing of what was used, over changes of the clock too', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: 0, max: 30 * 24 }), fc.integer({ min: 0, max: 100 })), { maxLength: 50 }),
      (used) => {
        const days = byDay(
          used.map(([at, cost]) => row(since + at * hour, cost)),
          since,
          31,
        );
        expect(days.reduce((sum, { list }) => sum + list, 0)).toBe(used.reduce((sum, [, cost]) => sum + cost, 0));
        expect([sumOf(days).list, sumOf(days).turns]).toEqual([used.reduce((sum, [, cost]) => sum + cost, 0), used.length]);
        expect(days).toHaveLength(31);
        expect(days.every(({ at }) => new Date(at).getHours() === 0)).toBe(true);
      },
    ),
  );
});
