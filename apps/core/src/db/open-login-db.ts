import path from 'node:path';
import { errorText } from '@svc/service-kit/service-error.ts';
import { migrate } from '@svc/store/migrate.ts';
import { openSqlite, type SqliteDatabase } from '@svc/store/open-sqlite.ts';

/**
 * Opens the database of the login. It lies apart from the core's so that no backup holds it: a restore would bring back passwords that were changed,
 * recovery codes that were used and devices that were lost. Not for one process alone: `svc auth` reads it and ends sessions in it.
 * @throws Error that says what is wrong and what to do
 */
export function openLoginDb(file: string): SqliteDatabase {
  let db: SqliteDatabase | null = null;
  const advice = `Stop the service, move ${file} and what begins with its name away, start it, and make a new login: ./svc auth setup`;
  try {
    db = openSqlite(file, { durability: 'full', advice: () => advice });
    migrate(db, path.join(import.meta.dirname, 'login-migrations'));
    return db;
  } catch (error) {
    void db?.close();
    throw new Error(`${file} cannot be used: ${errorText(error)}. ${advice}`, { cause: error });
  }
}
