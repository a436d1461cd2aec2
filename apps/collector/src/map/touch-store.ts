import type { Database } from '@svc/store/database.ts';
import { compositeKey } from '@svc/service-kit/composite-key.ts';
import type { BatchDatabase } from '@svc/store/open-sqlite.ts';
import type { StoredEvent } from '../ingest/parse-event.ts';
import { touchedPaths } from './touched-paths.ts';

/** One path that a session touched; times are epoch ms. */
export type TouchRow = { session: string; path: string; cwd: string | null; tool: string; times: number; last_at: number };

/** A position in the order of time. */
export type TouchCursor = Pick<TouchRow, 'last_at' | 'session' | 'path'>;

type Db = Pick<Database, 'all' | 'get'>;

const columns = 'session, path, cwd, tool, times, last_at';
const selectOfSession = `SELECT ${columns} FROM touch WHERE session = ? AND last_at >= ? ORDER BY last_at DESC LIMIT ?`;
const selectOfPath = `SELECT ${columns} FROM touch WHERE path = ? ORDER BY session LIMIT ?`;
const selectBelow = `SELECT ${columns} FROM touch WHERE path > ? AND path < ? ORDER BY path, session LIMIT ?`;

const older = `FROM touch WHERE last_at >= ? AND (last_at, session, path) < (?, ?, ?)
ORDER BY last_at DESC, session DESC, path DESC`;
const selectEnd = `SELECT last_at, session, path ${older} LIMIT 1 OFFSET ?`;
// The rows are scanned in the index of times; only matches are read from the table.
const selectFound = `SELECT ${columns
  .split(', ')
  .map((name) => `touch.${name}`)
  .join(', ')}
FROM (SELECT session, path ${older} LIMIT ?) AS seen
JOIN touch ON touch.session = seen.session AND touch.path = seen.path
WHERE seen.path = ? OR (seen.path > ? AND seen.path < ?)`;

/** The paths that a session touched since a time, newest first. */
export const touchesOf = (db: Pick<Db, 'all'>, session: string, since: number, limit: number): Promise<TouchRow[]> =>
  db.all<TouchRow>(selectOfSession, session, since, limit);

/** All touches of a path and of everything below it, in the order of paths. */
export async function touchesByPath(db: Pick<Db, 'all'>, path: string, limit: number): Promise<TouchRow[]> {
  const own = await db.all<TouchRow>(selectOfPath, path, limit);
  const below = await db.all<TouchRow>(selectBelow, ...rangeBelow(path), limit - own.length);
  return [...own, ...below];
}

/**
 * Scans the newest touches since a time, from a position on, and returns those of a path and of everything below it.
 * `next`: where to continue; null if there are no older ones.
 */
export async function touchesByTime(
  db: Db,
  path: string,
  since: number,
  from: TouchCursor | null,
  looked: number,
): Promise<{ rows: TouchRow[]; next: TouchCursor | null }> {
  const { last_at, session, path: at } = from ?? { last_at: Number.MAX_SAFE_INTEGER, session: '', path: '' };
  const place = [since, last_at, session, at] as const;
  const rows = await db.all<TouchRow>(selectFound, ...place, looked, path, ...rangeBelow(path));
  return { rows, next: (await db.get<TouchCursor>(selectEnd, ...place, looked - 1)) ?? null };
}

/** Every path below a folder sorts between its name with `/` and its name with the character after `/`. */
function rangeBelow(folder: string): [string, string] {
  const prefix = folder === '/' ? '' : folder;
  return [`${prefix}/`, `${prefix}0`];
}

const merge = `
INSERT INTO touch (session, path, cwd, tool, times, last_at) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (session, path) DO UPDATE SET
  times = touch.times + excluded.times,
  cwd = CASE WHEN excluded.last_at >= touch.last_at THEN coalesce(excluded.cwd, touch.cwd) ELSE touch.cwd END,
  tool = CASE WHEN excluded.last_at >= touch.last_at THEN excluded.tool ELSE touch.tool END,
  last_at = CASE WHEN excluded.last_at >= touch.last_at THEN excluded.last_at ELSE touch.last_at END`;
const removeOld =
  'DELETE FROM touch WHERE (session, path) IN (SELECT session, path FROM touch WHERE last_at < ? ORDER BY last_at LIMIT ?)';

type Touch = { session: string; path: string; cwd: string | null; tool: string; times: number; last_at: number };

/** The touches of one commit, collected in memory and written once at its end. */
type TouchSums = { add(event: StoredEvent): void; write(): void };

/** Older touches are never shown. */
const keptMs = 30 * 24 * 3_600_000;
const touchesPerPrune = 200;

/** Stores which session touched which path. Touches older than 30 days are deleted while new ones arrive. */
export function createTouchWriter(db: BatchDatabase): () => TouchSums {
  const upsert = db.statement(merge);
  const prune = db.statement(removeOld);
  let unpruned = 0;
  return () => {
    const touches = new Map<string, Touch>();
    return {
      add(event) {
        const { session, ts, text } = event;
        if (session === null) return;
        const { paths, cwd } = touchedPaths(event);
        for (const path of paths) {
          const key = compositeKey(session, path);
          const known = touches.get(key);
          const newest = known !== undefined && known.last_at > ts ? known : { cwd, tool: text ?? '', last_at: ts };
          touches.set(key, { ...newest, session, path, times: (known?.times ?? 0) + 1 });
        }
      },
      write() {
        let newest = 0;
        for (const { session, path, cwd, tool, times, last_at } of touches.values()) {
          upsert.run(session, path, cwd, tool.slice(0, 200), times, last_at);
          newest = Math.max(newest, last_at);
        }
        unpruned += touches.size;
        if (unpruned < touchesPerPrune) return;
        // Deletes more than were added, so that the touches of a busier time are deleted in the end.
        prune.run(newest - keptMs, 2 * unpruned);
        unpruned = 0;
      },
    };
  };
}
