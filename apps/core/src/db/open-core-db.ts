import path from 'node:path';
import { errorText } from '@svc/service-kit/service-error.ts';
import { migrate, MigrationError } from '@svc/store/migrate.ts';
import { openSqlite, type SqliteDatabase } from '@svc/store/open-sqlite.ts';

/** SQLite's codes for "somebody else has it", "malformed" and "no database". */
const busy = 5;
const damaged = [11, 26];

/** The file is there and will not be usable at the next try either: damaged, no database, or of a newer version. */
export class UnusableDb extends Error {
  override readonly name = 'UnusableDb';
}

/**
 * Opens the core's database for this process alone and brings it to the newest schema.
 * @throws Error that says whose the file is or what is wrong with it, `UnusableDb` when that will not pass by itself.
 */
export function openCoreDb(file: string): SqliteDatabase {
  try {
    const db = openSqlite(file, { exclusive: true, redo: true });
    migrate(db, path.join(import.meta.dirname, 'migrations'));
    return db;
  } catch (error) {
    const code = ((error as { errcode?: number }).errcode ?? 0) & 0xff;
    if (code === busy) {
      const whose = `Another core is using ${path.dirname(file)}. Stop it first, or give this one a folder of its own (SVC_DATA_DIR).`;
      throw new Error(whose, { cause: error });
    }
    const text = `${file} cannot be used: ${errorText(error)}.`;
    if (damaged.includes(code) || error instanceof MigrationError) throw new UnusableDb(text, { cause: error });
    throw new Error(text, { cause: error });
  }
}
