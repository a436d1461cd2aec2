import type { UsageAux, UsageRollup } from '@svc/contract/usage.ts';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { byDay, startOfDays } from './by-day.ts';

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

const side = (bucket_hour: number, cost_usd: number): UsageAux => ({
  bucket_hour,
  surface: 'web',
  feature: 'tts',
  provider: 'p',
  model: 'm',
  units: 'characters',
  calls: 1,
  unpriced_calls: 1,
  quantity: 1,
  cost_usd,
  billed_cost_usd: cost_usd,
});

test('byDay() loses no usage, also across clock changes', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: 0, max: 30 * 24 }), fc.integer({ min: 0, max: 100 })), { maxLength: 50 }),
      (used) => {
        const usage = used.map(([at, cost]) => row(since + at * hour, cost));
        const aux = used.map(([at, cost]) => side(since + at * hour, 2 * cost));
        const days = byDay({ usage, aux }, since, 31);
        const sum = (field: Exclude<keyof (typeof days)[number], 'at'>) => days.reduce((all, day) => all + day[field], 0);
        const cost = used.reduce((all, [, one]) => all + one, 0);
        expect([sum('list'), sum('billed'), sum('turns'), sum('unpricedCalls')]).toEqual([
          3 * cost,
          2 * cost,
          used.length,
          used.length,
        ]);
        expect(days).toHaveLength(31);
        expect(days.every(({ at }) => new Date(at).getHours() === 0)).toBe(true);
      },
    ),
  );
});

test('the last days end with today, also after days of 23 or 25 hours', () => {
  vi.stubEnv('TZ', 'America/New_York');
  try {
    for (const now of [new Date(2026, 2, 20, 9), new Date(2026, 10, 12, 9)]) {
      const days = byDay({ usage: [row(now.getTime(), 1)], aux: [] }, startOfDays(31, now), 31);
      expect(new Date(days.at(-1)?.at ?? 0).toDateString()).toBe(now.toDateString());
      expect(days.at(-1)?.turns).toBe(1);
      expect(new Date(startOfDays(31, now)).getHours()).toBe(0);
    }
  } finally {
    vi.unstubAllEnvs();
  }
});

test('byDay() has the hour in which the first day begins, where that is half past an hour of UTC', () => {
  vi.stubEnv('TZ', 'Asia/Kolkata');
  try {
    const first = startOfDays(7, new Date(2026, 2, 20, 9));
    const days = byDay({ usage: [row(first - hour / 2, 1)], aux: [side(first - hour / 2, 2)] }, first, 7);
    expect(days[0]).toMatchObject({ at: first, turns: 1, list: 3 });
  } finally {
    vi.unstubAllEnvs();
  }
});
