import { checkDatabase, type CheckedDatabase } from './check-database.ts';
import type { SqliteDatabase } from './open-sqlite.ts';

/** The start itself is not slowed, and neither is what follows it. */
const afterMs = 60_000;
/** One of several GB is read by the backup that comes every day, and by `svc doctor`. */
const timeoutMs = 60_000;

type Timer = { after(ms: number, fn: () => void): () => void };

/**
 * Calls `onDamage` once when a database turns out to be damaged, with what to say. A statement meets the damage, or the
 * check that comes a while after the start. The returned function gives that check up.
 */
export function watchDamage(db: SqliteDatabase, clock: Timer, onDamage: (message: string) => void): () => void {
  void db.damaged.then(({ message }) => onDamage(message));
  return checkLater(db, clock);
}

/** Has a database read to its end once, and reports what is wrong with it. The returned function gives that up. */
function checkLater(db: SqliteDatabase, clock: Timer): () => void {
  const stop = new AbortController();
  const { signal } = stop;
  const report = (checked: CheckedDatabase) => {
    if (checked !== 'unfinished' && checked.isDamaged) db.reportDamage(checked.fault ?? '');
  };
  const givenUp = (error: unknown) => {
    if (!signal.aborted) throw error;
  };
  const cancel = clock.after(afterMs, () => void checkDatabase(db.file, { timeoutMs, signal }).then(report).catch(givenUp));
  return () => {
    cancel();
    stop.abort();
  };
}
