import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { DamagedDatabase } from './damage.ts';
import type { SqliteDatabase } from './open-sqlite.ts';

/** A data file from a newer version than the running code, or a missing migration. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

/**
 * Migrates a database to the newest schema: it runs each `NNN-name.sql` file of `dir` once, in order, in its own transaction.
 * A migration only adds (so that an update can be rolled back without its data), and is never edited.
 */
export function migrate(db: SqliteDatabase, dir: string): void {
  const files = readdirSync(dir)
    .filter((name) => /^\d{3}-[\w-]+\.sql$/.test(name))
    .sort();
  db.raw.exec('CREATE TABLE IF NOT EXISTS schema_migration (name TEXT PRIMARY KEY, applied_at INTEGER NOT NULL)');
  const applied = new Set(
    db.raw
      .prepare('SELECT name FROM schema_migration')
      .all()
      .map((row) => String(row['name'])),
  );
  const missing = files.filter((name) => !applied.has(name));
  for (const name of missing) {
    const sql = readFileSync(path.join(dir, name), 'utf8');
    db.raw.exec('BEGIN IMMEDIATE');
    try {
      db.raw.exec(sql);
      db.raw.prepare('INSERT INTO schema_migration (name, applied_at) VALUES (?, ?)').run(name, Date.now());
      db.raw.exec('COMMIT');
    } catch (error) {
      if (db.raw.isTransaction) db.raw.exec('ROLLBACK');
      throw new MigrationError(`Migration ${name} failed: ${(error as Error).message}`, { cause: error });
    }
  }
  if (missing.length > 0) moveLog(db);
}

/** The migrations together fill a megabyte of log, which all readers of the database would have to read. */
function moveLog(db: SqliteDatabase): void {
  try {
    db.raw.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  } catch (error) {
    if (error instanceof DamagedDatabase) throw error;
    // On a full disk the changes stay in the log, where they are safe too; the checkpointer moves them later.
  }
}
