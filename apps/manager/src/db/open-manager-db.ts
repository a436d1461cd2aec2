import path from 'node:path';
import { restoreAdvice } from '@svc/service-kit/restore/restore-advice.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { DamagedDatabase } from '@svc/store/damage.ts';
import { migrate } from '@svc/store/migrate.ts';
import { openSqlite, type Durability, type SqliteDatabase } from '@svc/store/open-sqlite.ts';

/** Opens the manager's database. A damaged one is refused and left unchanged: continuing with an empty one would hide the loss. */
export function openManagerDb(file: string, durability: Durability): SqliteDatabase {
  let db: SqliteDatabase | null = null;
  try {
    db = openSqlite(file, { durability, advice: () => restoreAdvice(path.dirname(file)) });
    // The database is small, so this takes no time.
    const [row] = db.raw.prepare('PRAGMA quick_check(1)').all();
    if (row?.['quick_check'] !== 'ok') db.reportDamage(String(row?.['quick_check']));
    const damage = db.damage();
    if (damage !== null) throw damage;
    migrate(db, path.join(import.meta.dirname, 'migrations'));
    return db;
  } catch (error) {
    db?.raw.close();
    if (error instanceof DamagedDatabase) throw error;
    throw new Error(`${file} cannot be used: ${errorText(error)}. ${restoreAdvice(path.dirname(file))}`, { cause: error });
  }
}
