import { chmodSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

/**
 * Takes the lock of `file` for this process, in a file beside it; the returned function gives it up. The lock is the
 * kernel's: a write transaction on a SQLite file, held open. It ends with the process however that ends.
 * @throws an error with SQLite's code 5 when another process has it.
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
