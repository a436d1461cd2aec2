import type { Database } from '@svc/store/database.ts';
import type { SessionRow } from './session-row.ts';

/** A session as the collector shows it; `active` while a turn runs or something happened in the last 15 minutes. */
export type CollectedSession = Omit<SessionRow, 'state_at' | 'last_text_at'> & { active: boolean };

export type SessionFilter = { active: boolean; before: number; limit: number };

const activeMs = 15 * 60_000;

const selectRecent = 'SELECT * FROM session WHERE last_event_at >= ? AND last_event_at < ? ORDER BY last_event_at DESC LIMIT ?';
const selectRunning = "SELECT * FROM session WHERE state = 'running' AND last_event_at < ? ORDER BY last_event_at DESC LIMIT ?";

/** Sessions by their last event, newest first. */
export async function listSessions(db: Pick<Database, 'all'>, filter: SessionFilter, now: number): Promise<CollectedSession[]> {
  const { active, before, limit } = filter;
  const activeSince = now - activeMs;
  const recent = await db.all<SessionRow>(selectRecent, active ? activeSince : 0, before, limit);
  // A turn that has been silent for longer comes after all of these.
  const running = active ? await db.all<SessionRow>(selectRunning, Math.min(before, activeSince), limit) : [];
  return [...recent, ...running].slice(0, limit).map((row) => toSession(row, activeSince));
}

/** One session, as far as events told of it. */
export async function readSession(db: Pick<Database, 'get'>, key: string, now: number): Promise<CollectedSession | undefined> {
  const row = await db.get<SessionRow>('SELECT * FROM session WHERE conversation_key = ?', key);
  return row === undefined ? undefined : toSession(row, now - activeMs);
}

function toSession({ state_at: _at, last_text_at: _textAt, ...row }: SessionRow, activeSince: number): CollectedSession {
  return { ...row, active: row.state === 'running' || row.last_event_at >= activeSince };
}
