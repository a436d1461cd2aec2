import { chmodSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

/**
 * Locks `file` for this process, by a file beside it; the returned function unlocks it. The lock is an open write transaction
 * on a SQLite file, so the kernel releases it with the process, however that ends.
 * @throws an error with SQLite's code 5 when another process has the lock.
 */
export function lockFile(file: string): () => void {
  const lock = `${file}-lock`;
  const db = new DatabaseSync(lock, { timeout: 0 });
  try {
    chmodSync(lock, 0o600);
    db.exec('PRAGMA journal_mode=OFF; PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch (error) {
    db.close();
    throw error;
  }
  return () => db.close();
}
