import type { DatabaseSync } from 'node:sqlite';
import type { UsageSide, UsageRollup } from '@svc/contract/usage.ts';
import { sumNames } from './turn-sums.ts';

/** Sums of one handle over the whole time; an empty principal means none. */
export type HandleSums = Omit<UsageRollup, 'bucket_hour' | 'principal'> & { principal: string };
export type UsageSums = { handles: HandleSums[]; side: UsageSide[]; truncated: boolean };

const maxHandles = 20_000;
const maxSide = 1000;

const dayMs = 24 * 3_600_000;
const periodMs = 30 * dayMs;
const columns = ['surface', 'identity', 'principal', ...sumNames].join(', ');

/** Whole periods of 30 days from their own sums, plus the days before the first period, plus the hours before the first day. */
const selectHandles = `
SELECT surface, identity, principal, ${sumNames.map((name) => `sum(${name}) AS ${name}`).join(', ')}
FROM (
  SELECT ${columns} FROM stored.usage_rollup WHERE bucket_hour >= ? AND bucket_hour < ?
  UNION ALL SELECT ${columns} FROM stored.usage_day WHERE bucket_day >= ? AND bucket_day < ?
  UNION ALL SELECT ${columns} FROM stored.usage_period WHERE bucket_period >= ?
) GROUP BY surface, identity, principal LIMIT ${maxHandles + 1}`;

const selectSide = `
SELECT surface, feature, provider, model, units, sum(calls) AS calls, sum(unpriced_calls) AS unpriced_calls,
  sum(quantity) AS quantity, sum(cost_usd) AS cost_usd, sum(billed_cost_usd) AS billed_cost_usd
FROM stored.usage_aux WHERE bucket_hour >= ? GROUP BY surface, feature, provider, model, units LIMIT ${maxSide + 1}`;

/** Sums of all hours from one on. Reads many rows, so it runs in the thread for long reads. */
export function createUsageSummer(db: DatabaseSync): (fromHour: number) => UsageSums {
  const readHandles = db.prepare(selectHandles);
  const readSide = db.prepare(selectSide);
  return (fromHour) => {
    const firstDay = Math.ceil(fromHour / dayMs) * dayMs;
    const firstPeriod = Math.ceil(firstDay / periodMs) * periodMs;
    const handles = readHandles.all(fromHour, firstDay, firstDay, firstPeriod, firstPeriod) as HandleSums[];
    const side = readSide.all(fromHour) as UsageSide[];
    return {
      handles: handles.slice(0, maxHandles),
      side: side.slice(0, maxSide),
      truncated: handles.length > maxHandles || side.length > maxSide,
    };
  };
}
