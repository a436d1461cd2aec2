import type { Database } from '@svc/store/database.ts';
import type { SessionRow } from './session-row.ts';

export type SessionFilter = { active: boolean; before: number; limit: number };

/** How long a session stays active after its last event. */
export const activeMs = 15 * 60_000;

const selectRecent = 'SELECT * FROM session WHERE last_event_at >= ? AND last_event_at < ? ORDER BY last_event_at DESC LIMIT ?';
const selectRunning = "SELECT * FROM session WHERE state = 'running' AND last_event_at < ? ORDER BY last_event_at DESC LIMIT ?";
const selectNamed = `SELECT * FROM session WHERE last_event_at < ?
AND conversation_key IN (SELECT value FROM json_each(?)) ORDER BY last_event_at DESC LIMIT ?`;

type Db = Pick<Database, 'all'>;

/** Sessions by their last event, newest first. Those of `live` are active however long nothing happened in them. */
export async function selectRows(db: Db, filter: SessionFilter, live: readonly string[], now: number): Promise<SessionRow[]> {
  const { active, before, limit } = filter;
  if (!active) return db.all<SessionRow>(selectRecent, 0, before, limit);
  const since = now - activeMs;
  const recent = await db.all<SessionRow>(selectRecent, since, before, limit);
  // A turn or a program that has been silent for longer comes after all of these.
  const silent = Math.min(before, since);
  const running = await db.all<SessionRow>(selectRunning, silent, limit);
  const named = live.length === 0 ? [] : await db.all<SessionRow>(selectNamed, silent, JSON.stringify(live), limit);
  const keys = new Set(running.map(({ conversation_key }) => conversation_key));
  const others = named.filter(({ conversation_key }) => !keys.has(conversation_key));
  const older = [...running, ...others].toSorted((a, b) => b.last_event_at - a.last_event_at);
  return [...recent, ...older].slice(0, limit);
}

export const readRows = (db: Db, keys: readonly string[]): Promise<SessionRow[]> =>
  db.all<SessionRow>('SELECT * FROM session WHERE conversation_key IN (SELECT value FROM json_each(?))', JSON.stringify(keys));

/** A turn runs, or something happened in the last 15 minutes. */
export const isActiveRow = ({ state, last_event_at }: SessionRow, now: number): boolean =>
  state === 'running' || last_event_at >= now - activeMs;
