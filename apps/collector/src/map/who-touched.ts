import { setImmediate as nextTick } from 'node:timers/promises';
import type { Toucher, WhoTouched } from '@svc/contract/work-map.ts';
import type { Database } from '@svc/store/database.ts';
import type { SessionList } from '../session/session-list.ts';
import { whoIs } from './sessions-by-key.ts';
import { touchesAt, touchesBelow, type TouchRow } from './touch-store.ts';

/** Bounds of one answer: rows that are read, in slices between which the loop is free, and what is shown of them. */
const sliceRows = 500;
const maxRows = 50_000;
const maxSessions = 100;
const maxPaths = 5;

type Deps = { db: Pick<Database, 'all'>; sessionList: Pick<SessionList, 'read'> };
type Found = { touches: number; paths: TouchRow[] };

/** Which sessions touched a path, or anything below it, since a time (epoch ms); the newest first. */
export async function whoTouched({ db, sessionList }: Deps, path: string, since: number): Promise<WhoTouched> {
  const found = new Map<string, Found>();
  const take = (row: TouchRow) => {
    if (row.last_at >= since) addRow(found, row);
  };
  const budget = { rows: maxRows };
  await read(budget, (last) => touchesAt(db, path, last?.session ?? '', sliceRows), take);
  await read(budget, (last) => touchesBelow(db, path, last, sliceRows), take);
  const newest = [...found].toSorted(([, a], [, b]) => lastOf(b) - lastOf(a));
  const sessions: Toucher[] = [];
  for (const [key, { touches, paths }] of newest.slice(0, maxSessions)) {
    const shown = paths.map(({ path: file, tool, last_at }) => ({ path: file, tool, last_at }));
    sessions.push({ ...(await whoIs(sessionList, key)), last_at: lastOf({ paths }), touches, paths: shown });
  }
  return { path, since, sessions, truncated: budget.rows <= 0 || newest.length > maxSessions };
}

/** Reads slice after slice until nothing is left, of the rows or of the budget. */
async function read(
  budget: { rows: number },
  next: (last: TouchRow | null) => Promise<TouchRow[]>,
  take: (row: TouchRow) => void,
): Promise<void> {
  let last: TouchRow | null = null;
  while (budget.rows > 0) {
    const rows: TouchRow[] = await next(last);
    for (const row of rows) take(row);
    budget.rows -= rows.length;
    if (rows.length < sliceRows) return;
    last = rows.at(-1) ?? null;
    await nextTick();
  }
}

function addRow(found: Map<string, Found>, row: TouchRow): void {
  const session = found.get(row.session) ?? { touches: 0, paths: [] };
  found.set(row.session, session);
  session.touches += row.times;
  session.paths.push(row);
  if (session.paths.length <= maxPaths) return;
  session.paths.sort(newestFirst);
  session.paths.pop();
}

const newestFirst = (a: TouchRow, b: TouchRow) => b.last_at - a.last_at;
const lastOf = ({ paths }: Pick<Found, 'paths'>): number => Math.max(...paths.map(({ last_at }) => last_at));
