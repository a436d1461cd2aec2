import { existsSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync, backup } from 'node:sqlite';
import { backedUpDatabases, type BackedUpDatabase, type BackupContents } from '@svc/contract/backup.ts';
import type { DataPaths } from '@svc/service-kit/config/data-dir.ts';
import type { SqliteDatabase } from '@svc/store/open-sqlite.ts';
import { checkSnapshot } from './check-databases.ts';

export type DatabaseFiles = Pick<DataPaths, 'coreDb' | 'managerDb' | 'collectorDb'>;

const pagesPerStep = 2000;

/** Where each database of the service lies. */
export const databaseFiles = ({ coreDb, managerDb, collectorDb }: DatabaseFiles): Record<BackedUpDatabase, string> => ({
  core: coreDb,
  manager: managerDb,
  collector: collectorDb,
});

/**
 * Copies every database there is to `folder`, each as it is between two of its transactions, while all of them are
 * used. Gives the newest migration of each.
 * @throws Error that names a damaged one.
 */
export async function snapshotDatabases(
  db: SqliteDatabase,
  paths: DatabaseFiles,
  folder: string,
  signal: AbortSignal,
): Promise<BackupContents['schemas']> {
  const schemas: BackupContents['schemas'] = {};
  const files = databaseFiles(paths);
  for (const name of backedUpDatabases) {
    const copy = path.join(folder, `${name}.db`);
    if (name === 'core') await db.snapshot(copy);
    else if (existsSync(files[name])) await copyOther(files[name], copy);
    else continue;
    schemas[name] = await checkSnapshot(name, copy, signal);
  }
  return schemas;
}

/** One that another process has open. The copy is of the moment in which it begins, however long it takes. */
async function copyOther(file: string, copy: string): Promise<void> {
  const other = new DatabaseSync(file, { readOnly: true, timeout: 5000 });
  try {
    other.exec('BEGIN');
    other.prepare('SELECT count(*) FROM sqlite_schema').get();
    await backup(other, copy, { rate: pagesPerStep });
  } finally {
    other.close();
  }
}
