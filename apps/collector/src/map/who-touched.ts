import type { Toucher, WhoTouched } from '@svc/contract/work-map.ts';
import type { Database } from '@svc/store/database.ts';
import type { SessionList } from '../session/session-list.ts';
import { whoAre } from './sessions-by-key.ts';
import type { TouchRow } from './touch-store.ts';
import { touchesUnder } from './touches-under.ts';

/** What is shown of one answer. */
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

/** Of a session's touches, newest first. */
const workOf = (rows: readonly TouchRow[]): Pick<Toucher, 'last_at' | 'touches' | 'paths'> => ({
  last_at: rows[0]?.last_at ?? 0,
  touches: rows.reduce((sum, { times }) => sum + times, 0),
  paths: rows.slice(0, maxPaths).map(({ path, tool, last_at }) => ({ path, tool, last_at })),
});
