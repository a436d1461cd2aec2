import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { SqliteDatabase } from '@svc/store/open-sqlite.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { openCoreDb } from '../src/db/open-core-db.ts';
import { writeNewDb } from './new-db.ts';

export type TestDb = {
  db(): SqliteDatabase;
  /** Closes it and opens it again, as a restart does. */
  again(): Promise<SqliteDatabase>;
};

/** The database of a core on disk. It is gone after the test. */
export function openTestDb(): TestDb {
  const folder = temporaryFolder();
  const file = path.join(folder.path, 'core.db');
  writeNewDb(folder.path, 'core.db');
  let db = openCoreDb(file);
  onTestFinished(async () => {
    await db.close();
    folder.remove();
  });
  return {
    db: () => db,
    async again() {
      await db.close();
      return (db = openCoreDb(file));
    },
  };
}
