/**
 * Token counts. `input_tokens` excludes cached tokens, `output_tokens` includes thinking tokens, `cache_write_tokens` includes those that
 * a vendor keeps for an hour, which cost more.
 */
export type TokenCounts = {
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  cache_write_1h_tokens?: number;
  thinking_tokens?: number;
};

/** Tokens and money of one turn, all its models together. Costs are USD. */
export type TokenUsage = TokenCounts & {
  /** True when the engine reported nothing and tokens were counted at about four characters each. */
  estimated: boolean;
  /** The cost at list prices, billed or not: from an engine its own figure or null; in a result null if the price is unknown. */
  cost_usd: number | null;
  /** The parts of these sums, when other models took part: sub-agents, searches, summaries. */
  by_model?: readonly ModelUsage[];
};

/** The usage of one model of a turn; `cost_usd` as for the turn. */
export type ModelUsage = TokenCounts & { model: string; cost_usd: number | null };

/** One row of `usage_rollup`: sums per hour, surface and identity (spec: Usage and pricing). */
export type UsageRollup = {
  bucket_hour: number;
  surface: string;
  identity: string;
  principal: string | null;
  turns: number;
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  estimated_turns: number;
  /** Turns with an unknown price, which the costs do not include. */
  unpriced_turns: number;
  cost_usd: number;
  billed_cost_usd: number;
};

/** One row of `usage_aux`: metered side calls per hour, surface, feature, provider, model and unit. */
export type UsageAux = {
  bucket_hour: number;
  surface: string;
  feature: string;
  provider: string;
  model: string;
  units: string;
  calls: number;
  /** Calls with an unknown price, which the costs do not include. */
  unpriced_calls: number;
  quantity: number;
  cost_usd: number;
  billed_cost_usd: number;
};

type Sums = Omit<UsageRollup, 'bucket_hour' | 'surface' | 'identity' | 'principal'>;

/** The usage of a person: a principal with all linked handles, or one unlinked handle. */
export type UsagePerson = Sums & {
  /** Key of the principal; null: not linked. */
  principal: string | null;
  /** The principal's display name; null if unknown. */
  name: string | null;
  /** The surfaces and handles of the usage; a principal's own turns are listed under its key. */
  handles: { surface: string; identity: string }[];
};

/** Side calls of the whole period, which belong to no person. */
export type UsageSide = Omit<UsageAux, 'bucket_hour'>;

/**
 * Answer of `GET /api/usage/people`, the highest usage first. `links_known`: the core supplied the links; without them only
 * usage that was recorded with a principal is combined. `truncated`: not all handles were examined.
 */
export type UsageByPerson = { since: number; people: UsagePerson[]; side: UsageSide[]; links_known: boolean; truncated: boolean };
