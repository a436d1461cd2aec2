import path from 'node:path';
import { systemClock } from '@svc/service-kit/clock.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { createCheckpointer } from '@svc/store/checkpointer.ts';
import { lockFile } from '@svc/store/file-lock.ts';
import { importRedo } from '@svc/store/import-redo.ts';
import { migrate, MigrationError } from '@svc/store/migrate.ts';
import { openSqlite, type Durability, type SqliteDatabase } from '@svc/store/open-sqlite.ts';

/** SQLite's codes for "another process has it", "malformed" and "not a database". */
const busy = 5;
const damaged = [11, 26];

/** The log is moved into the database beside the work from this size on; SQLite itself would, in a commit, at eight times that. */
const logBytes = 8 * 1024 * 1024;
const tuning = `PRAGMA wal_autocheckpoint=16000; PRAGMA journal_size_limit=${logBytes}`;

/** The file is there and will not be usable at the next try either: damaged, no database, or of a newer version. */
export class UnusableDb extends Error {
  override readonly name = 'UnusableDb';
}

export type CoreDbOptions = { durability?: Durability; log?: Pick<Log, 'warn' | 'error'> };

const noLog = { warn: () => undefined, error: () => undefined };

/**
 * Opens the core's database for this process alone and brings it to the newest schema.
 * @throws Error that says which process has the file or what is wrong with it, `UnusableDb` when that will not pass by itself.
 */
export function openCoreDb(file: string, options: CoreDbOptions = {}): SqliteDatabase {
  let unlock: (() => void) | null = null;
  try {
    unlock = lockFile(file);
    return openLocked(file, options, unlock);
  } catch (error) {
    unlock?.();
    throw toOpenError(file, error);
  }
}

function openLocked(file: string, { durability, log = noLog }: CoreDbOptions, unlock: () => void): SqliteDatabase {
  const checkpointer = createCheckpointer(file, { clock: systemClock, log, logBytes });
  const db = openSqlite(file, { durability, checkpointer });
  try {
    db.raw.exec(tuning);
    const fault = importRedo(db.raw, file);
    if (fault !== null) log.error({ fault }, 'changes of an earlier version were set aside');
    migrate(db, path.join(import.meta.dirname, 'migrations'));
  } catch (error) {
    db.raw.close();
    throw error;
  }
  const close = async () => {
    await db.close();
    unlock();
  };
  return { ...db, close };
}

function toOpenError(file: string, error: unknown): Error {
  const code = ((error as { errcode?: number }).errcode ?? 0) & 0xff;
  if (code === busy) {
    const whose = `Another core is using ${path.dirname(file)}. Stop it first, or give this one a folder of its own (SVC_DATA_DIR).`;
    return new Error(whose, { cause: error });
  }
  const text = `${file} cannot be used: ${errorText(error)}.`;
  const isLasting = damaged.includes(code) || error instanceof MigrationError;
  return isLasting ? new UnusableDb(text, { cause: error }) : new Error(text, { cause: error });
}
