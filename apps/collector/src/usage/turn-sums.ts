import type { UsageRollup } from '@svc/contract/usage.ts';

/** The sums of turns. The names are those of the columns and of the fields in every answer. */
export type TurnSums = Omit<UsageRollup, 'bucket_hour' | 'surface' | 'identity' | 'principal'>;

const none: TurnSums = {
  turns: 0,
  input_tokens: 0,
  output_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  estimated_turns: 0,
  unpriced_turns: 0,
  cost_usd: 0,
  billed_cost_usd: 0,
};

export const sumNames = Object.keys(none) as (keyof TurnSums)[];

export const noSums = (): TurnSums => ({ ...none });

export function addSums(sums: TurnSums, more: TurnSums): void {
  for (const name of sumNames) sums[name] += more[name];
}
