import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { LoginSession } from '@svc/contract/auth.ts';
import { CliError } from '../cli-error.ts';

/** The login database in the data folder. The core reads it at each request, so ending a session takes effect at once. */
export type LoginFile = {
  /** Name of the operator; null when no login was set up. */
  name(): string | null;
  sessions(): LoginSession[];
  /** Returns how many of these sessions existed and were ended. */
  end(ids: readonly string[]): number;
  close(): void;
};

const columns = 'id, device, method, created_at, seen_at, expires_at, proven_at';

/** Null when there is no login yet. `now` is epoch ms. @throws CliError when the file cannot be used */
export function openLoginFile(file: string, now: number): LoginFile | null {
  if (!existsSync(file)) return null;
  let db: DatabaseSync;
  try {
    db = new DatabaseSync(file, { timeout: 5000 });
    db.exec('PRAGMA synchronous=FULL');
    db.prepare('SELECT 1 FROM login_session').get();
  } catch (error) {
    throw new CliError(`${file} cannot be read.`, {
      why: 'It is damaged, or is not a login database:  ./svc doctor',
      cause: error,
    });
  }
  return {
    name: () => (db.prepare('SELECT name FROM login_account').get() as { name: string } | undefined)?.name ?? null,
    sessions: () =>
      db
        .prepare(`SELECT ${columns} FROM login_session WHERE expires_at > ? ORDER BY created_at DESC, id`)
        .all(now) as unknown as LoginSession[],
    end: (ids) =>
      ids.reduce((ended, id) => ended + Number(db.prepare('DELETE FROM login_session WHERE id = ?').run(id).changes), 0),
    close: () => db.close(),
  };
}
