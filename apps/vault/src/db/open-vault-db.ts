import path from 'node:path';
import { makePrivateDir } from '@svc/service-kit/files.ts';
import { restoreAdvice } from '@svc/service-kit/restore/restore-advice.ts';
import { migrate } from '@svc/store/migrate.ts';
import { openSqlite, type SqliteDatabase } from '@svc/store/open-sqlite.ts';

/** Opens the vault's file. One process has it at a time, and what was committed is on the disk itself. */
export function openVaultDb(file: string): SqliteDatabase {
  makePrivateDir(path.dirname(file));
  const db = openSqlite(file, { durability: 'full', exclusive: true, advice: () => adviceOf(path.dirname(path.dirname(file))) });
  // Always full: an access must be on record before its answer leaves, also when the power fails in between. What is deleted or
  // wrapped again is overwritten.
  db.raw.exec('PRAGMA secure_delete=ON');
  migrate(db, path.join(import.meta.dirname, 'migrations'));
  return db;
}

/** A backup has the vault only when it was made with its secrets. */
const adviceOf = (dataDir: string): string => `${restoreAdvice(dataDir)}, with --secrets for the vault`;
