import { existsSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { copyFile, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { type BackedUpDatabase, backedUpDatabases, type BackupContents } from '@svc/contract/backup.ts';
import type { DataPaths } from '@svc/service-kit/config/data-dir.ts';
import { copyDatabase } from '@svc/store/copy-database.ts';
import { ifThere } from '@svc/service-kit/files.ts';
import type { SqliteDatabase } from '@svc/store/open-sqlite.ts';
import { checkSnapshot } from './check-databases.ts';

export type DatabaseFiles = Pick<DataPaths, 'coreDb' | 'managerDb' | 'collectorDb'>;

/** The file of each database of the service. */
export const databaseFiles = ({ coreDb, managerDb, collectorDb }: DatabaseFiles): Record<BackedUpDatabase, string> => ({
  core: coreDb,
  manager: managerDb,
  collector: collectorDb,
});

/**
 * Copies every existing database to `folder`, each consistent between two transactions, while all are in use. Returns the
 * newest migration of each.
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
    else if (existsSync(files[name])) await copyDatabase(files[name], copy);
    else continue;
    schemas[name] = await checkSnapshot(name, copy, signal);
  }
  return schemas;
}

/** How often copying the vault's files is tried. */
const maxTries = 20;

/**
 * The vault's database as one file, sealed as it is; null where there is no vault. A running vault has it locked, so its files are copied into `folder`, repeatedly until nothing has changed in between.
 */
export async function readVault(file: string, folder: string): Promise<Buffer | null> {
  if ((await stampOf(file)) === null) return null;
  const work = await mkdtemp(path.join(folder, 'svc-vault-'));
  try {
    const copy = path.join(work, 'vault.db');
    await copyUnchanged(file, copy);
    const db = new DatabaseSync(copy);
    try {
      db.exec('PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode=DELETE');
      if (db.prepare('PRAGMA quick_check(1)').get()?.['quick_check'] !== 'ok')
        throw new Error('the copy of the vault is damaged');
    } finally {
      db.close();
    }
    return await readFile(copy);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function copyUnchanged(file: string, copy: string): Promise<void> {
  for (let tries = 1; tries <= maxTries; tries++) {
    const before = await stampsOf(file);
    await copyFile(file, copy);
    await rm(`${copy}-wal`, { force: true });
    if ((await stampOf(`${file}-wal`)) !== null) await copyFile(`${file}-wal`, `${copy}-wal`);
    if ((await stampsOf(file)) === before) return;
  }
  throw new Error('the vault kept changing, so it could not be copied');
}

const stampsOf = async (file: string) => `${await stampOf(file)} ${await stampOf(`${file}-wal`)}`;

async function stampOf(file: string): Promise<string | null> {
  const found = await ifThere(stat(file, { bigint: true }), null);
  return found === null ? null : `${found.ino}:${found.size}:${found.mtimeNs}`;
}
