import type { Database } from '@svc/store/database.ts';
import type { RetentionPass } from './retention-plan.ts';

/** Where a pass goes on: events up to here have been looked at. */
export type RetentionPlace = { ts: number; seq: number };

type Row = RetentionPlace & { kind: string; received_at: number | null };

/** The newest event stays, or its number would be given a second time. */
const selectSlice = `SELECT ts, seq, kind, received_at FROM event
WHERE (ts, seq) > (?, ?) AND ts < ? AND seq < (SELECT max(seq) FROM event) ORDER BY ts, seq LIMIT ?`;

export type RemovedSlice = {
  place: RetentionPlace;
  removed: number[];
  /** The oldest event that stays because it came late; null when there is none. */
  late: number | null;
};

/**
 * Looks at some old events, oldest first, and removes those that the pass is for and that came long enough ago too: the time
 * that an event says may be wrong. Null when no more are old enough.
 */
export async function removeSlice(
  db: Pick<Database, 'all' | 'run'>,
  pass: RetentionPass,
  place: RetentionPlace,
  before: number,
  limit: number,
): Promise<RemovedSlice | null> {
  const rows = await db.all<Row>(selectSlice, place.ts, place.seq, before, limit);
  const last = rows.at(-1);
  if (last === undefined) return null;
  const own = rows.filter(({ kind }) => pass.kinds.includes(kind) !== pass.isAllBut);
  const isLate = ({ received_at }: Row) => received_at !== null && received_at >= before;
  const removed = own.filter((row) => !isLate(row)).map(({ seq }) => seq);
  if (removed.length > 0)
    await db.run('DELETE FROM event WHERE seq IN (SELECT value FROM json_each(?))', JSON.stringify(removed));
  return { place: { ts: last.ts, seq: last.seq }, removed, late: own.find(isLate)?.ts ?? null };
}
