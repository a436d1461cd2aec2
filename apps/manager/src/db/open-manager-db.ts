import path from 'node:path';
import { errorText } from '@svc/service-kit/service-error.ts';
import { migrate } from '@svc/store/migrate.ts';
import { openSqlite, type Durability, type SqliteDatabase } from '@svc/store/open-sqlite.ts';

/** Opens the manager's database. A damaged one is refused and left as it is: going on empty would hide the loss. */
export function openManagerDb(file: string, durability: Durability): SqliteDatabase {
  let db: SqliteDatabase | null = null;
  try {
    db = openSqlite(file, { durability });
    const [row] = db.raw.prepare('PRAGMA quick_check(1)').all();
    if (row?.['quick_check'] !== 'ok') throw new Error(String(row?.['quick_check']));
    migrate(db, path.join(import.meta.dirname, 'migrations'));
    return db;
  } catch (error) {
    db?.raw.close();
    const advice = 'Restore it from a backup, or move it away to begin without connector instances.';
    throw new Error(`${file} cannot be used (${errorText(error)}). ${advice}`, { cause: error });
  }
}
