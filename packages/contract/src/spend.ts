export const spendPeriods = ['day', 'month'] as const;
export type SpendPeriodName = (typeof spendPeriods)[number];

/** USD; null is no limit. Past `soft_usd` the operator is warned, at `hard_usd` turns are refused. */
export type SpendLimits = { soft_usd: number | null; hard_usd: number | null };

/** One row of what was spent: a principal, or the empty id for senders without one. `cost_usd` is at list prices. */
export type PrincipalSpend = { principal_id: string; key: string | null; cost_usd: number; turns: number };

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
};
