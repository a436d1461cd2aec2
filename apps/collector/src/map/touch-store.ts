import type { Database } from '@svc/store/database.ts';

/** One path that a session touched; times are epoch ms. */
export type TouchRow = { session: string; path: string; cwd: string | null; tool: string; times: number; last_at: number };

type Db = Pick<Database, 'all'>;
type Place = Pick<TouchRow, 'path' | 'session'>;

const columns = 'session, path, cwd, tool, times, last_at';
const selectOfSession = `SELECT ${columns} FROM touch WHERE session = ? AND last_at >= ? ORDER BY last_at DESC LIMIT ?`;
const selectOfPath = `SELECT ${columns} FROM touch WHERE path = ? AND session > ? ORDER BY session LIMIT ?`;
// Everything below a folder stands between its name with `/` and its name with the character after `/`.
const selectBelow = `SELECT ${columns} FROM touch WHERE (path, session) > (?, ?) AND path < ? ORDER BY path, session LIMIT ?`;

/** What a session touched since a time, newest first. */
export const touchesOf = (db: Db, session: string, since: number, limit: number): Promise<TouchRow[]> =>
  db.all<TouchRow>(selectOfSession, session, since, limit);

/** Touches of the path itself, after those of a session. */
export const touchesAt = (db: Db, path: string, after: string, limit: number): Promise<TouchRow[]> =>
  db.all<TouchRow>(selectOfPath, path, after, limit);

/** Touches of what lies below a folder, after a place in the order of paths. */
export function touchesBelow(db: Db, folder: string, after: Place | null, limit: number): Promise<TouchRow[]> {
  const prefix = folder === '/' ? '' : folder;
  const { path, session } = after ?? { path: `${prefix}/`, session: '' };
  return db.all<TouchRow>(selectBelow, path, session, `${prefix}0`, limit);
}
