import { channelPattern } from './envelope.ts';
import type { SpendPeriodName } from './spend-period.ts';

/** USD per 1,000,000 tokens. A missing cache price equals the price of `in`, a missing `cache_write_1h` that of `cache_write`. */
export type ModelPrice = { in: number; out: number; cache_read?: number; cache_write?: number; cache_write_1h?: number };

const usd = { type: 'number', minimum: 0, maximum: 1e9 } as const;

/** Body of `PUT /v2/pricing/models/:model`. Fields that are left out stay unchanged. */
export const modelPriceSchema = {
  type: 'object',
  minProperties: 1,
  additionalProperties: false,
  properties: {
    in: { ...usd, title: 'Input' },
    out: { ...usd, title: 'Output' },
    cache_read: { ...usd, title: 'Cache reads', description: 'Default: the price of input.' },
    cache_write: { ...usd, title: 'Cache writes', description: 'Default: the price of input.' },
    cache_write_1h: { ...usd, title: 'Cache writes kept for an hour', description: 'Default: the price of cache writes.' },
  },
} as const;

/** List prices by the beginning of a model's id: `tts` in USD per 1,000 characters, `stt` in USD per minute of audio. */
export type PriceTable = {
  models: Record<string, ModelPrice>;
  tts: Record<string, number>;
  stt: Record<string, number>;
};

/** A model that was used since the start and still has no known price; `model` is null where the engine named none. */
export type UnpricedModel = { engine_id: string; model: string | null; runs: number };

/** Answer of `GET /v2/pricing`: the prices in force and where they came from. */
export type PricingReport = PriceTable & {
  source: {
    /** Month in which the built-in prices were looked up. */
    built_in: string;
    file: string;
    /** `none`: there is no file. `refused`: it is invalid, and the previous prices stay in force. */
    file_state: 'none' | 'applied' | 'refused';
    /** When the file was last read, epoch ms. */
    loaded_at: number;
    fault: string | null;
    /** The prices that the file sets. */
    from_file: Record<keyof PriceTable, string[]>;
  };
  unpriced: UnpricedModel[];
};

/** USD; null: no limit. Above `soft_usd` the operator is warned; at `hard_usd` turns are refused. */
export type SpendLimits = { soft_usd: number | null; hard_usd: number | null };

/** Tolerance for rounding errors in sums of many small numbers, USD. */
const rounding = 1e-9;

/** Whether spending has reached a limit. */
export const isLimitReached = (spent: number, limit: number | null): limit is number =>
  limit !== null && spent >= limit - rounding;

/** The higher of the limits that spending has reached; null below both. */
export function reachedLimit(
  { soft_usd, hard_usd }: SpendLimits,
  spent: number,
): { level: 'soft' | 'hard'; limit: number } | null {
  if (isLimitReached(spent, hard_usd)) return { level: 'hard', limit: hard_usd };
  return isLimitReached(spent, soft_usd) ? { level: 'soft', limit: soft_usd } : null;
}

/** Body of `PUT /v2/spend/budget`. */
export const budgetSchema = {
  type: 'object',
  required: ['surface', 'value', 'month_usd'],
  properties: {
    surface: { type: 'string', title: 'Channel', description: 'For example: compat.', pattern: channelPattern },
    value: {
      type: 'string',
      title: 'Sender',
      description: 'The name on that channel, such as the name of a key.',
      minLength: 1,
      maxLength: 256,
    },
    month_usd: {
      type: ['number', 'null'],
      title: 'USD a month',
      description: 'At list prices, in a calendar month.',
      minimum: 0,
      maximum: 1e9,
    },
  },
} as const;

/** The spending of one principal; the id is empty for senders without one. `cost_usd` is at list prices. */
export type PrincipalSpend = { principal_id: string; key: string | null; cost_usd: number; turns: number };

/** The monthly budget of one sender, such as a key of the chat completions API, and its spending in the current month. */
export type SenderBudget = { surface: string; value: string; month_usd: number; spent_usd: number };

/** Answer of `GET /v2/spend`: the current period of the host's calendar, epoch ms, and the spending in it. */
export type SpendReport = {
  period: SpendPeriodName;
  since: number;
  /** The first moment of the next period. */
  until: number;
  total: { cost_usd: number } & SpendLimits;
  /** The limits of each principal. */
  per_principal: SpendLimits;
  /** The highest spending first. */
  principals: PrincipalSpend[];
  /** Budgets of single senders, in addition to the limits above. */
  budgets: SenderBudget[];
};
