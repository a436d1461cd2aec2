/** The periods of spending limits. A separate module, because every program reads the settings, but few need the rest of `cost.ts`. */
export const spendPeriods = ['day', 'month'] as const;
export type SpendPeriodName = (typeof spendPeriods)[number];
