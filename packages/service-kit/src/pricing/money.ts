import type { ModelPrice } from '@svc/contract/cost.ts';
import type { TokenCounts } from '@svc/contract/usage.ts';

/** A larger amount of USD is a mistake, not a price or a cost. */
const maxUsd = 1_000_000;
/** Costs are rounded to a billionth of a dollar, less than one cached token of the cheapest model. */
const parts = 1e9;

export const isMoney = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value <= maxUsd;

/** A cost in USD without floating-point noise; null for a value that cannot be a cost. */
export const toUsd = (value: number): number | null => (isMoney(value) ? Math.round(value * parts) / parts : null);

/** The cost of tokens at a price. Thinking tokens are part of the output tokens. */
export function costOfTokens(usage: TokenCounts, price: ModelPrice): number | null {
  const written = price.cache_write ?? price.in;
  const forHour = Math.min(usage.cache_write_1h_tokens ?? 0, usage.cache_write_tokens);
  return toUsd(
    (usage.input_tokens * price.in +
      usage.cache_read_tokens * (price.cache_read ?? price.in) +
      (usage.cache_write_tokens - forHour) * written +
      forHour * (price.cache_write_1h ?? written) +
      usage.output_tokens * price.out) /
      1_000_000,
  );
}
