/** What a spending limit counts. In a module of its own: every program reads the settings, and few need the rest of what is said about costs. */
export const spendPeriods = ['day', 'month'] as const;
export type SpendPeriodName = (typeof spendPeriods)[number];
