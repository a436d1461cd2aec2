import path from 'node:path';
import { systemClock } from '@svc/service-kit/clock.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { restoreAdvice } from '@svc/service-kit/restore/restore-advice.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { createCheckpointer } from '@svc/store/checkpointer.ts';
import { DamagedDatabase } from '@svc/store/damage.ts';
import { migrate, MigrationError } from '@svc/store/migrate.ts';
import { type Durability, openSqlite, type SqliteDatabase } from '@svc/store/open-sqlite.ts';
import { findSetAside } from '@svc/store/set-aside.ts';

/** SQLite's code for a database that another process has locked. */
const busy = 5;

/** The log size at which a background checkpoint starts; SQLite itself would run one inside a commit, at four times this size. */
const logBytes = 16 * 1024 * 1024;
const tuning = `PRAGMA wal_autocheckpoint=16000; PRAGMA journal_size_limit=${logBytes}`;

/** The file exists and will not become usable by itself: it is damaged, not a database, or of a newer version. */
export class UnusableDb extends Error {
  override readonly name = 'UnusableDb';
}

export type CoreDbOptions = { durability?: Durability; log?: Pick<Log, 'warn' | 'error'> };

const noLog = { warn: () => undefined, error: () => undefined };

/**
 * Opens the core's database for this process alone and migrates it to the newest schema.
 * @throws Error that says which process has the file or what is wrong with it; `UnusableDb` when that will not pass by itself.
 */
export function openCoreDb(file: string, options: CoreDbOptions = {}): SqliteDatabase {
  let db: SqliteDatabase | null = null;
  try {
    const { durability, log = noLog } = options;
    const checkpointer = createCheckpointer(file, { clock: systemClock, log, logBytes });
    db = openSqlite(file, { durability, checkpointer, exclusive: true, advice: () => restoreAdvice(path.dirname(file)) });
    db.raw.exec(tuning);
    migrate(db, path.join(import.meta.dirname, 'migrations'));
    return db;
  } catch (error) {
    void db?.close();
    throw toOpenError(file, error);
  }
}

function toOpenError(file: string, error: unknown): Error {
  const code = ((error as { errcode?: number }).errcode ?? 0) & 0xff;
  if (code === busy) {
    const whose = `Another core is using ${path.dirname(file)}. Stop it first, or give this one a folder of its own (SVC_DATA_DIR).`;
    return new Error(whose, { cause: error });
  }
  const text = `${file} cannot be used: ${errorText(error)}`;
  const isLasting = error instanceof DamagedDatabase || error instanceof MigrationError;
  return isLasting ? new UnusableDb(text, { cause: error }) : new Error(text, { cause: error });
}

/** Faults for files with changes that could not be applied: acknowledged data may be missing until a person has checked them. */
export const setAsideFaults = (root: string): string[] =>
  findSetAside(root).map(
    (name) =>
      `Changes in ${path.join(root, name)} could not be applied, so what was said just before may be missing. ` +
      `${restoreAdvice(root)}; or remove the file when nothing is missing.`,
  );
