import { channelPattern } from './envelope.ts';
import type { SpendPeriodName } from './spend-period.ts';

/** USD per 1,000,000 tokens. A cache price that is missing is the price of `in`, but `cache_write_1h` that of `cache_write`. */
export type ModelPrice = { in: number; out: number; cache_read?: number; cache_write?: number; cache_write_1h?: number };

const usd = { type: 'number', minimum: 0, maximum: 1e9 } as const;

/** Body of `PUT /v2/pricing/models/:model`. What is not named stays as it is. */
export const modelPriceSchema = {
  type: 'object',
  minProperties: 1,
  additionalProperties: false,
  properties: {
    in: { ...usd, title: 'What it reads' },
    out: { ...usd, title: 'What it writes' },
    cache_read: { ...usd, title: 'What it reads from its cache', description: 'Unless set: as what it reads.' },
    cache_write: { ...usd, title: 'What it puts into its cache', description: 'Unless set: as what it reads.' },
    cache_write_1h: { ...usd, title: 'What it puts there for an hour', description: 'Unless set: as what it puts there.' },
  },
} as const;

/** List prices by the beginning of a model's id: `tts` in USD per 1,000 characters, `stt` in USD per minute of audio. */
export type PriceTable = {
  models: Record<string, ModelPrice>;
  tts: Record<string, number>;
  stt: Record<string, number>;
};

/** A model that was used since the start and whose price is still not known; null where the engine named none. */
export type UnpricedModel = { engine_id: string; model: string | null; runs: number };

/** Answer of `GET /v2/pricing`: the prices in force and where they came from. */
export type PricingReport = PriceTable & {
  source: {
    /** Month in which the built-in prices were looked up. */
    built_in: string;
    file: string;
    /** `none`: there is no file. `refused`: it is faulty, and the prices are those of before. */
    file_state: 'none' | 'applied' | 'refused';
    /** Epoch ms of the last look at the file. */
    loaded_at: number;
    fault: string | null;
    /** What the file sets. */
    from_file: Record<keyof PriceTable, string[]>;
  };
  unpriced: UnpricedModel[];
};

/** USD; null is no limit. Past `soft_usd` the operator is warned, at `hard_usd` turns are refused. */
export type SpendLimits = { soft_usd: number | null; hard_usd: number | null };

/** Body of `PUT /v2/spend/budget`. */
export const budgetSchema = {
  type: 'object',
  required: ['surface', 'value', 'month_usd'],
  properties: {
    surface: { type: 'string', title: 'Channel', description: 'Such as compat.', pattern: channelPattern },
    value: {
      type: 'string',
      title: 'Sender',
      description: 'As the channel names them, such as the name of a key.',
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

/** One row of what was spent: a principal, or the empty id for senders without one. `cost_usd` is at list prices. */
export type PrincipalSpend = { principal_id: string; key: string | null; cost_usd: number; turns: number };

/** What one sender, such as a key of the chat completions API, may spend in a calendar month, and has spent in this one. */
export type SenderBudget = { surface: string; value: string; month_usd: number; spent_usd: number };

/** Answer of `GET /v2/spend`: the running period of the host's calendar, epoch ms, and who spent how much in it. */
export type SpendReport = {
  period: SpendPeriodName;
  since: number;
  /** The first moment of the next period. */
  until: number;
  total: { cost_usd: number } & SpendLimits;
  /** The limits of each principal. */
  per_principal: SpendLimits;
  /** Most first. */
  principals: PrincipalSpend[];
  /** Of single senders, beside the limits above. */
  budgets: SenderBudget[];
};
