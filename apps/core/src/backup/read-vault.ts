import { copyFile, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';

const maxTries = 20;

/**
 * The vault's database as one file, sealed as it is; null where there is no vault. A running vault lets nobody else open
 * it, so its files are copied to a place in `folder`, again until nothing changed in between.
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
  throw new Error('the vault is changed all the time, so it could not be copied');
}

const stampsOf = async (file: string) => `${await stampOf(file)} ${await stampOf(`${file}-wal`)}`;

async function stampOf(file: string): Promise<string | null> {
  try {
    const { size, mtimeNs, ino } = await stat(file, { bigint: true });
    return `${ino}:${size}:${mtimeNs}`;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
