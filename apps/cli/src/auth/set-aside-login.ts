import { existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** The columns of a login database; a file without them is not one. */
const look = 'SELECT id, name, password, totp_secret FROM login_account';

/** Moves an unusable login database to `broken`, where it is kept whole. The core makes a new one. Returns the folder; null when the file is intact. */
export function setAsideBrokenLogin(file: string): string | null {
  const folder = path.dirname(file);
  const name = path.basename(file);
  if (!existsSync(file) || isWhole(file)) return null;
  // Listed after the check, which may have removed a useless file beside it.
  const parts = readdirSync(folder).filter((entry) => [name, `${name}-wal`, `${name}-shm`].includes(entry));
  const broken = path.join(folder, 'broken');
  mkdirSync(broken, { recursive: true, mode: 0o700 });
  for (const part of parts) renameSync(path.join(folder, part), path.join(broken, `${part}.${Date.now()}`));
  return broken;
}

function isWhole(file: string): boolean {
  try {
    const db = new DatabaseSync(file, { readOnly: true, timeout: 5000 });
    try {
      db.prepare(look).all();
      return db.prepare('PRAGMA quick_check(1)').get()?.['quick_check'] === 'ok';
    } finally {
      db.close();
    }
  } catch (error) {
    // A busy database is not a damaged one.
    return ((error as { errcode?: number }).errcode ?? 0) === 5;
  }
}
