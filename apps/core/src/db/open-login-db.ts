import { statSync } from 'node:fs';
import path from 'node:path';
import type { Clock } from '@svc/service-kit/clock.ts';
import { errorText, ServiceError, unavailable } from '@svc/service-kit/service-error.ts';
import { DamagedDatabase, firstFault } from '@svc/store/damage.ts';
import type { Database } from '@svc/store/database.ts';
import { migrate } from '@svc/store/migrate.ts';
import { openSqlite, type SqliteDatabase } from '@svc/store/open-sqlite.ts';

/** The delay before an unusable file is tried again. */
const againMs = 1000;

/**
 * The database of the login. It is separate from the core's so that no backup contains it: a restore would bring back changed passwords,
 * used recovery codes and lost devices. Other processes may open it too: `svc auth` reads it, ends sessions in it, and moves an unusable
 * one away. Without it nobody can sign in, and everything else works: each call then rejects with `unavailable`.
 */
export type LoginDb = Database & {
  /** Why nobody can sign in, and what to do; null while the login works. */
  fault(): string | null;
};

type Opened = { db: SqliteDatabase; inode: number | null };

/** Never throws because of the file: `fault` reports what is wrong with it. */
export function openLoginDb(file: string, clock: Pick<Clock, 'elapsed'>): LoginDb {
  let opened: Opened | null = null;
  let fault: string | null = null;
  let triedAt = -Infinity;

  const lose = (why: string): void => {
    fault = `${file} cannot be used, so nobody can sign in: ${why.replace(/\.$/, '')}. Make a new login: ./svc auth reset`;
    // The database is lost, so an error while closing it does not matter.
    opened?.db.close().catch(() => undefined);
    opened = null;
  };
  const tryOpening = (): void => {
    triedAt = clock.elapsed();
    try {
      opened = openFile(file);
      fault = null;
    } catch (error) {
      lose(errorText(error));
    }
  };
  const current = (): SqliteDatabase => {
    if (opened !== null && opened.inode !== inodeOf(file)) {
      lose('it was moved away');
      triedAt = -Infinity;
    }
    if (opened === null && clock.elapsed() - triedAt >= againMs) tryOpening();
    if (opened === null) throw unavailable(fault ?? `${file} cannot be used.`);
    return opened.db;
  };
  const using = async <T>(work: (db: Database) => Promise<T>): Promise<T> => {
    try {
      return await work(current());
    } catch (error) {
      if (!(error instanceof DamagedDatabase)) throw error;
      lose(errorText(error.cause ?? error));
      throw new ServiceError('unavailable', fault ?? '', { cause: error });
    }
  };

  tryOpening();
  return {
    fault: () => fault ?? opened?.db.fault() ?? null,
    get: (sql, ...values) => using((db) => db.get(sql, ...values)),
    all: (sql, ...values) => using((db) => db.all(sql, ...values)),
    run: (sql, ...values) => using((db) => db.run(sql, ...values)),
    getDeferred: (sql, ...values) => using((db) => db.getDeferred(sql, ...values)),
    mark: () => current().mark(),
    flush: (since) => using((db) => db.flush(since)),
    transaction: (work) => using((db) => db.transaction(work)),
    close: async () => opened?.db.close(),
  };
}

function openFile(file: string): Opened {
  const db = openSqlite(file, { durability: 'full', advice: () => '' });
  try {
    // Finds damage now instead of when someone signs in.
    const [check] = db.raw.prepare('PRAGMA quick_check(1)').all();
    const found = String(check?.['quick_check']);
    if (found !== 'ok') throw new Error(`it is damaged (${firstFault(found)})`);
    migrate(db, path.join(import.meta.dirname, 'login-migrations'));
    return { db, inode: inodeOf(file) };
  } catch (error) {
    db.close().catch(() => undefined);
    throw error;
  }
}

/** Null when there is no such file. */
const inodeOf = (file: string): number | null => statSync(file, { throwIfNoEntry: false })?.ino ?? null;
