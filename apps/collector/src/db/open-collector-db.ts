import path from 'node:path';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { restoreAdvice } from '@svc/service-kit/restore/restore-advice.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { createCheckpointer } from '@svc/store/checkpointer.ts';
import { DamagedDatabase } from '@svc/store/damage.ts';
import { migrate } from '@svc/store/migrate.ts';
import { openSqlite, type Durability, type SqliteDatabase } from '@svc/store/open-sqlite.ts';

export const logBytes = 32 * 1024 * 1024;

/**
 * The collector writes more than any other process, so it has a cache for the ends of its indexes, and a log that SQLite
 * moves during a commit only if the checkpointer fails. The log file keeps its size for the next writes.
 */
const tuning = `PRAGMA cache_size=-32768; PRAGMA wal_autocheckpoint=16000; PRAGMA journal_size_limit=${logBytes}`;

export type CollectorDbDeps = { clock: Clock; log: Pick<Log, 'warn'>; durability: Durability };

/** @throws Error with the file that cannot be used and the reason. */
export function openCollectorDb(file: string, { clock, log, durability }: CollectorDbDeps) {
  let db: SqliteDatabase | null = null;
  try {
    db = openSqlite(file, { durability, advice: () => restoreAdvice(path.dirname(file)) });
    db.raw.exec(tuning);
    migrate(db, path.join(import.meta.dirname, 'migrations'));
    return { db, checkpointer: createCheckpointer(file, { clock, log, logBytes }) };
  } catch (error) {
    db?.raw.close();
    if (error instanceof DamagedDatabase) throw error;
    throw new Error(`${file} cannot be used: ${errorText(error)}. Run: ./svc doctor`, { cause: error });
  }
}
