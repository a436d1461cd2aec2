import { chmodSync, closeSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

export type InstanceLock = { release(): void };

/**
 * Makes this process the only supervisor of a data folder; null when another one is. The lock is the kernel's: a write
 * transaction on a SQLite file, held open. It ends with the process however that ends, so a stale lock cannot exist.
 */
export function takeInstanceLock(file: string): InstanceLock | null {
  closeSync(openSync(file, 'a', 0o600));
  chmodSync(file, 0o600);
  const db = new DatabaseSync(file, { timeout: 0 });
  try {
    db.exec('PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch (error) {
    db.close();
    if (isBusy(error)) return null;
    throw error;
  }
  return { release: () => db.close() };
}

const sqliteBusy = 5;
const isBusy = (error: unknown) => (error as { errcode?: number }).errcode === sqliteBusy;
