import type { UsageAux, UsageRollup } from '@svc/contract/usage.ts';
import type { Database } from '@svc/store/database.ts';
import { bucketHour } from './usage-writer.ts';

export type UsageList = { usage: UsageRollup[]; aux: UsageAux[]; truncated: boolean };

/** Each list is read within the call, so it is bounded to what takes a few milliseconds. */
const maxRows = 5000;

const selectRollups = `SELECT * FROM usage_rollup WHERE bucket_hour >= ? ORDER BY bucket_hour DESC LIMIT ${maxRows + 1}`;
const selectAux = `SELECT * FROM usage_aux WHERE bucket_hour >= ? ORDER BY bucket_hour DESC LIMIT ${maxRows + 1}`;

type RollupRow = UsageRollup & { principal: string };

/** Hourly sums from the hour that holds `since` (epoch ms) on, newest first; `truncated` when older ones were left out. */
export async function listUsage(db: Pick<Database, 'all'>, since: number): Promise<UsageList> {
  const from = bucketHour(since);
  const rollups = await db.all<RollupRow>(selectRollups, from);
  const aux = await db.all<UsageAux>(selectAux, from);
  return {
    usage: rollups.slice(0, maxRows).map((row) => ({ ...row, principal: row.principal === '' ? null : row.principal })),
    aux: aux.slice(0, maxRows),
    truncated: rollups.length > maxRows || aux.length > maxRows,
  };
}
