import type { Database } from '@svc/store/database.ts';
import type { SessionRow } from './session-row.ts';

export type SessionFilter = { active: boolean; before: number; limit: number };

/** How long a session stays active after its last event. */
export const activeMs = 15 * 60_000;

/** A session of a terminal, by its transcript. It is active while its program runs, and over when that has ended. */
const isOfTerminal = 'EXISTS (SELECT 1 FROM transcript t WHERE t.conversation_key = session.conversation_key AND t.is_core = 0)';
const recentOf = (isHostKnown: boolean) =>
  `FROM session WHERE last_event_at >= ? AND last_event_at < ? ${isHostKnown ? `AND NOT ${isOfTerminal}` : ''}`;
const running = "FROM session WHERE state = 'running' AND last_event_at < ?";
const named = 'FROM session WHERE last_event_at < ? AND conversation_key IN (SELECT value FROM json_each(?))';
const newest = 'ORDER BY last_event_at DESC LIMIT ?';

type Db = Pick<Database, 'all' | 'get'>;

/**
 * Sessions by their last event, newest first. Those of `live` (whose program runs) are active however long nothing happened
 * in them; null: nobody knows which these are.
 */
export async function selectRows(
  db: Db,
  { active, before, limit }: SessionFilter,
  live: readonly string[] | null,
  now: number,
): Promise<SessionRow[]> {
  if (!active) return db.all<SessionRow>(`SELECT * ${recentOf(false)} ${newest}`, 0, before, limit);
  const since = now - activeMs;
  const rows = [
    ...(await db.all<SessionRow>(`SELECT * ${recentOf(live !== null)} ${newest}`, since, before, limit)),
    ...(await db.all<SessionRow>(`SELECT * ${running} ${newest}`, before, limit)),
    ...(live?.length ? await db.all<SessionRow>(`SELECT * ${named} ${newest}`, before, JSON.stringify(live), limit) : []),
  ];
  const byKey = new Map(rows.map((row) => [row.conversation_key, row]));
  return [...byKey.values()].toSorted((a, b) => b.last_event_at - a.last_event_at).slice(0, limit);
}

/** How many sessions are active now, however many these are. */
export async function countActive(db: Db, live: readonly string[] | null, now: number): Promise<number> {
  const key = 'SELECT conversation_key';
  const sql = `SELECT count(*) AS n FROM (${key} ${recentOf(live !== null)} UNION ${key} ${running} UNION ${key} ${named})`;
  const end = Number.MAX_SAFE_INTEGER;
  return (await db.get<{ n: number }>(sql, now - activeMs, end, end, end, JSON.stringify(live ?? [])))?.n ?? 0;
}

export const readRows = (db: Pick<Db, 'all'>, keys: readonly string[]): Promise<SessionRow[]> =>
  db.all<SessionRow>('SELECT * FROM session WHERE conversation_key IN (SELECT value FROM json_each(?))', JSON.stringify(keys));

/** A turn runs, or something happened in the last 15 minutes. */
export const isActiveRow = ({ state, last_event_at }: SessionRow, now: number): boolean =>
  state === 'running' || last_event_at >= now - activeMs;
