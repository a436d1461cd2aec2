import type { UsageAux, UsageRollup } from '@svc/contract/usage.ts';

/** What a day used, and what it cost together with side calls; `at` is its first moment, epoch ms. */
export type Day = {
  at: number;
  turns: number;
  tokensIn: number;
  tokensOut: number;
  list: number;
  billed: number;
  estimated: number;
  unpriced: number;
  unpricedCalls: number;
};

const emptyDay = (at: number): Day => ({
  at,
  turns: 0,
  tokensIn: 0,
  tokensOut: 0,
  list: 0,
  billed: 0,
  estimated: 0,
  unpriced: 0,
  unpricedCalls: 0,
});

/** The first moment of the first of the last `count` days, today included: days of the calendar, of which some have 23 or 25 hours. */
export function startOfDays(count: number, now = new Date()): number {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() - (count - 1)).getTime();
}

type Used = { usage: readonly UsageRollup[]; aux: readonly UsageAux[] };

const hourMs = 3_600_000;

/**
 * The hourly sums, added up by day in this browser's time zone: `count` days from `since` on, used or not. Where a day begins at half past an
 * hour of UTC, as in India, the whole hour belongs to it.
 */
export function byDay({ usage, aux }: Used, since: number, count: number): Day[] {
  const first = new Date(since);
  const days = Array.from({ length: count }, (_, index) =>
    emptyDay(new Date(first.getFullYear(), first.getMonth(), first.getDate() + index).getTime()),
  );
  const dayOf = ({ bucket_hour }: { bucket_hour: number }) => days.findLast(({ at }) => at - (at % hourMs) <= bucket_hour);
  for (const row of usage) {
    const day = dayOf(row);
    if (day === undefined) continue;
    day.turns += row.turns;
    day.tokensIn += row.input_tokens + row.cache_read_tokens + row.cache_write_tokens;
    day.tokensOut += row.output_tokens;
    day.list += row.cost_usd;
    day.billed += row.billed_cost_usd;
    day.estimated += row.estimated_turns;
    day.unpriced += row.unpriced_turns;
  }
  for (const row of aux) {
    const day = dayOf(row);
    if (day === undefined) continue;
    day.list += row.cost_usd;
    day.billed += row.billed_cost_usd;
    day.unpricedCalls += row.unpriced_calls;
  }
  return days;
}
