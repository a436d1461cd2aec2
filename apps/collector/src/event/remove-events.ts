import type { Database } from '@svc/store/database.ts';
import type { EventCursor } from './event-store.ts';

type EventRow = EventCursor & { kind: string; received_at: number | null };

/** The newest event stays; otherwise its number would be used again. */
const selectEvents = `SELECT ts, seq, kind, received_at FROM event
WHERE (ts, seq) > (?, ?) AND ts < ? AND seq < (SELECT max(seq) FROM event) ORDER BY ts, seq LIMIT ?`;
const removeBySeq = 'DELETE FROM event WHERE seq IN (SELECT value FROM json_each(?))';

type RemovedEvents = {
  cursor: EventCursor;
  removed: number[];
  /** The oldest event that stays because it was received late; null if there is none. */
  late: number | null;
};

/**
 * Reads some events from before a time (epoch ms), oldest first, and removes those of the given kinds that were also received before it, because
 * the time in an event may be wrong. Null when no more are old enough.
 */
export async function removeEvents(
  db: Pick<Database, 'all' | 'run'>,
  isOwn: (kind: string) => boolean,
  cursor: EventCursor,
  before: number,
  limit: number,
): Promise<RemovedEvents | null> {
  const rows = await db.all<EventRow>(selectEvents, cursor.ts, cursor.seq, before, limit);
  const last = rows.at(-1);
  if (last === undefined) return null;
  const own = rows.filter(({ kind }) => isOwn(kind));
  const isLate = ({ received_at }: EventRow) => received_at !== null && received_at >= before;
  const removed = own.filter((row) => !isLate(row)).map(({ seq }) => seq);
  if (removed.length > 0) await db.run(removeBySeq, JSON.stringify(removed));
  return { cursor: { ts: last.ts, seq: last.seq }, removed, late: own.find(isLate)?.ts ?? null };
}
