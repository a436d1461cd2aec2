import { setImmediate as nextTick } from 'node:timers/promises';
import type { Toucher, WhoTouched } from '@svc/contract/insights.ts';
import type { Database } from '@svc/store/database.ts';
import { compositeKey } from '@svc/service-kit/composite-key.ts';
import type { SessionList } from '../session/session-list.ts';
import { whoAre } from './sessions-by-key.ts';
import { type TouchRow, touchesByPath, touchesByTime, type TouchCursor } from './touch-store.ts';

/** Limits of what one answer shows. */
const maxSessions = 100;
const maxPaths = 5;

type Deps = { db: Pick<Database, 'all' | 'get'>; sessionList: Pick<SessionList, 'readAll'> };

/** Which sessions touched a path, or anything below it, since a time (epoch ms); the newest first. */
export async function whoTouched({ db, sessionList }: Deps, path: string, since: number): Promise<WhoTouched> {
  const { rows, isAll } = await touchesUnder(db, path, since);
  const bySession = Map.groupBy(
    rows.toSorted((a, b) => b.last_at - a.last_at),
    ({ session }) => session,
  );
  const newest = [...bySession].slice(0, maxSessions);
  const sessions = await whoAre(
    sessionList,
    newest.map(([key]) => key),
  );
  return {
    path,
    since,
    sessions: sessions.map((who) => ({ ...who, ...workOf(bySession.get(who.conversation_key) ?? []) })),
    truncated: !isAll || bySession.size > maxSessions,
  };
}

/** Summarizes the touches of a session, given newest first. */
const workOf = (rows: readonly TouchRow[]): Pick<Toucher, 'last_at' | 'touches' | 'paths'> => ({
  last_at: rows[0]?.last_at ?? 0,
  touches: rows.reduce((sum, { times }) => sum + times, 0),
  paths: rows.slice(0, maxPaths).map(({ path, tool, last_at }) => ({ path, tool, last_at })),
});

/** Limits of one answer: rows read by path; rows scanned by time, in slices; and matches kept. */
const maxByPath = 1000;
const maxByTime = 50_000;
const sliceRows = 5000;
const maxFound = 5000;

type Db = Pick<Database, 'all' | 'get'>;
type Touches = { rows: TouchRow[]; isAll: boolean };

/**
 * Touches of a path and of everything below it since a time (epoch ms), in no order. A folder with few touches is read by
 * path; of one with many the newest are searched for. If there are too many, older ones are left out.
 */
async function touchesUnder(db: Db, path: string, since: number): Promise<Touches> {
  const some = await touchesByPath(db, path, maxByPath);
  const inTime = some.filter(({ last_at }) => last_at >= since);
  if (some.length < maxByPath) return { rows: inTime, isAll: true };
  const newest = await newestUnder(db, path, since);
  return newest.isAll ? newest : { rows: merged(newest.rows, inTime), isAll: false };
}

async function newestUnder(db: Db, path: string, since: number): Promise<Touches> {
  const found: TouchRow[] = [];
  let from: TouchCursor | null = null;
  for (let looked = 0; looked < maxByTime && found.length < maxFound; looked += sliceRows) {
    const { rows, next } = await touchesByTime(db, path, since, from, sliceRows);
    found.push(...rows);
    if (next === null) return { rows: found, isAll: true };
    from = next;
    await nextTick();
  }
  return { rows: found, isAll: false };
}

/** Joins both lists without duplicates. */
function merged(rows: readonly TouchRow[], more: readonly TouchRow[]): TouchRow[] {
  const nameOf = ({ session, path }: TouchRow) => compositeKey(session, path);
  const known = new Set(rows.map(nameOf));
  return [...rows, ...more.filter((row) => !known.has(nameOf(row)))];
}
