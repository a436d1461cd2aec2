import type { SystemSample } from '@svc/contract/insights.ts';
import type { Database } from '@svc/store/database.ts';

/** Keeps a sample; one of the same millisecond is replaced. */
export const keepSample = (db: Pick<Database, 'run'>, sample: SystemSample): Promise<number> =>
  db.run(
    'INSERT INTO system_sample (at, sample) VALUES (?, ?) ON CONFLICT (at) DO UPDATE SET sample = excluded.sample',
    sample.at,
    JSON.stringify(sample),
  );

/** Samples from a time (epoch ms) on, newest first. */
export async function listSamples(
  db: Pick<Database, 'all'>,
  since: number,
  before: number,
  limit: number,
): Promise<SystemSample[]> {
  const sql = 'SELECT sample FROM system_sample WHERE at >= ? AND at < ? ORDER BY at DESC LIMIT ?';
  const rows = await db.all<{ sample: string }>(sql, since, before, limit);
  return rows.map(({ sample }) => JSON.parse(sample) as SystemSample);
}

/** Removes the oldest samples from before a time; returns their number. */
export const dropSamples = (db: Pick<Database, 'run'>, before: number, limit: number): Promise<number> =>
  db.run('DELETE FROM system_sample WHERE at IN (SELECT at FROM system_sample WHERE at < ? ORDER BY at LIMIT ?)', before, limit);
