import { DatabaseSync } from 'node:sqlite';

const busyMs = 5000;

/** The migrations that were applied to a database, which may be in use. @throws SQLite's error */
export function appliedMigrations(file: string): string[] {
  const db = new DatabaseSync(file, { readOnly: true, timeout: busyMs });
  try {
    const rows = db.prepare('SELECT name FROM schema_migration').all();
    return rows.map((row) => String(row['name']));
  } finally {
    db.close();
  }
}
