import type { UsageRollup } from '@svc/contract/usage.ts';

/** What a day used; `at` is its first moment, epoch ms. */
export type Day = {
  at: number;
  turns: number;
  tokensIn: number;
  tokensOut: number;
  list: number;
  billed: number;
  estimated: number;
  unpriced: number;
};

/** What all of the days used, beginning with the first. */
export function sumOf(days: readonly Day[]): Day {
  const sum = emptyDay(days[0]?.at ?? 0);
  for (const day of days) {
    for (const field of ['turns', 'tokensIn', 'tokensOut', 'list', 'billed', 'estimated', 'unpriced'] as const)
      sum[field] += day[field];
  }
  return sum;
}

const emptyDay = (at: number): Day => ({
  at,
  turns: 0,
  tokensIn: 0,
  tokensOut: 0,
  list: 0,
  billed: 0,
  estimated: 0,
  unpriced: 0,
});

/** The sums of hours as those of days of this browser's calendar: each of `count` days from `since` on, used or not. */
export function byDay(rows: readonly UsageRollup[], since: number, count: number): Day[] {
  const first = new Date(since);
  const days = Array.from({ length: count }, (_, index) =>
    emptyDay(new Date(first.getFullYear(), first.getMonth(), first.getDate() + index).getTime()),
  );
  for (const row of rows) {
    const day = days.findLast(({ at }) => at <= row.bucket_hour);
    if (day === undefined) continue;
    day.turns += row.turns;
    day.tokensIn += row.input_tokens + row.cache_read_tokens + row.cache_write_tokens;
    day.tokensOut += row.output_tokens;
    day.list += row.cost_usd;
    day.billed += row.billed_cost_usd;
    day.estimated += row.estimated_turns;
    day.unpriced += row.unpriced_turns;
  }
  return days;
}
