import path from 'node:path';
import { makePrivateDir } from '@svc/service-kit/files.ts';
import { restoreAdvice } from '@svc/service-kit/restore/restore-advice.ts';
import { migrate } from '@svc/store/migrate.ts';
import { openSqlite, type SqliteDatabase } from '@svc/store/open-sqlite.ts';

/** Opens the vault's file, for one process at a time. Every commit is synced to the disk. */
export function openVaultDb(file: string): SqliteDatabase {
  makePrivateDir(path.dirname(file));
  const db = openSqlite(file, { durability: 'full', exclusive: true, advice: () => adviceOf(path.dirname(path.dirname(file))) });
  // Always full: an access must be recorded before its answer is sent, even if the power fails in between. Deleted and replaced
  // data is overwritten.
  db.raw.exec('PRAGMA secure_delete=ON');
  migrate(db, path.join(import.meta.dirname, 'migrations'));
  return db;
}

/** A backup contains the vault only if it was made with the secrets. */
const adviceOf = (dataDir: string): string => `${restoreAdvice(dataDir)}, with --secrets for the vault`;
