import path from 'node:path';
import { errorText } from '@svc/service-kit/service-error.ts';
import { migrate } from '@svc/store/migrate.ts';
import { openSqlite, type SqliteDatabase } from '@svc/store/open-sqlite.ts';

/** SQLite's code for "somebody else has it". */
const busy = 5;

/**
 * Opens the core's database for this process alone and brings it to the newest schema.
 * @throws Error that says whose the file is, or that it cannot be used; the core then does not start.
 */
export function openCoreDb(file: string): SqliteDatabase {
  try {
    const db = openSqlite(file, { exclusive: true, redo: true });
    migrate(db, path.join(import.meta.dirname, 'migrations'));
    return db;
  } catch (error) {
    const text =
      (error as { errcode?: number }).errcode === busy
        ? `Another core is using ${path.dirname(file)}. Stop it first, or give this one a folder of its own (SVC_DATA_DIR).`
        : `${file} cannot be used: ${errorText(error)}.`;
    throw new Error(text, { cause: error });
  }
}
