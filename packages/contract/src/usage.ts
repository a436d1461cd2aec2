/**
 * Tokens as they are counted everywhere. `input_tokens` excludes cached ones, `output_tokens` holds thinking ones, `cache_write_tokens` those
 * that a vendor keeps for an hour, which cost more.
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
  /** List-price value, metered or not: from an engine its own figure, else null; in a result null when nobody knows the price. */
  cost_usd: number | null;
  /** The parts of these sums, when other models answered beside the turn's own: sub-agents, searches, summaries. */
  by_model?: readonly ModelUsage[];
};

/** What one model of a turn has used; `cost_usd` as for the turn. */
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
  /** Turns whose price nobody knows: they are not in the costs. */
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
  /** Calls whose price nobody knows: they are not in the costs. */
  unpriced_calls: number;
  quantity: number;
  cost_usd: number;
  billed_cost_usd: number;
};

type Sums = Omit<UsageRollup, 'bucket_hour' | 'surface' | 'identity' | 'principal'>;

/** What a person used: a principal with all linked handles, or one handle that is linked to no principal. */
export type UsagePerson = Sums & {
  /** Key of the principal; null: not linked. */
  principal: string | null;
  /** The principal's display name; null when nobody knows it. */
  name: string | null;
  /** Where it was used, and under which handle; a principal's own turns stand under its key. */
  handles: { surface: string; identity: string }[];
};

/** Side calls, which belong to no person, over the whole time. */
export type UsageSide = Omit<UsageAux, 'bucket_hour'>;

/**
 * Answer of `GET /api/usage/people`, who used most first. `links_known`: the core said who is linked to whom; without it
 * only what was recorded with a principal is folded. `truncated`: there are more handles than are looked at.
 */
export type UsageByPerson = { since: number; people: UsagePerson[]; side: UsageSide[]; links_known: boolean; truncated: boolean };
