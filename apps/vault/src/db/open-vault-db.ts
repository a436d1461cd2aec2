import path from 'node:path';
import { makePrivateDir } from '@svc/service-kit/config/data-dir.ts';
import { migrate } from '@svc/store/migrate.ts';
import { openSqlite, type SqliteDatabase } from '@svc/store/open-sqlite.ts';

/** Opens the vault's file. One process has it at a time, and what was committed is on the disk itself. */
export function openVaultDb(file: string): SqliteDatabase {
  makePrivateDir(path.dirname(file));
  const db = openSqlite(file, { durability: 'full', exclusive: true });
  // Always full: an access must be on record before its answer leaves, also when the power fails in between. What is deleted or
  // wrapped anew is overwritten.
  db.raw.exec('PRAGMA secure_delete=ON');
  migrate(db, path.join(import.meta.dirname, 'migrations'));
  return db;
}
