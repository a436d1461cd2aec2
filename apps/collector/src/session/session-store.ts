import type { Database } from '@svc/store/database.ts';
import type { BatchDatabase } from '@svc/store/open-sqlite.ts';
import { factInBatch } from '../fact/facts.ts';
import { maxAheadMs, type StoredEvent } from '../ingest/parse-event.ts';
import { type SessionRow, addToRow, newRow } from './session-row.ts';
import { isCoreStart, isTitled, concernsSession } from './session-facts.ts';

export type SessionFilter = { active: boolean; before: number; limit: number };

/** How long a session stays active after its last event. */
export const activeMs = 15 * 60_000;

/** A terminal session, by its transcript. It is active only while its program runs. Checked in SQL, because the list is cut to its limit afterwards. */
const isOfTerminal = 'EXISTS (SELECT 1 FROM transcript t WHERE t.conversation_key = session.conversation_key AND t.is_core = 0)';
const recentOf = (isHostKnown: boolean) =>
  `FROM session WHERE last_event_at >= ? AND last_event_at < ? ${isHostKnown ? `AND NOT ${isOfTerminal}` : ''}`;
const running = "FROM session WHERE state = 'running' AND last_event_at < ?";
const named = 'FROM session WHERE last_event_at < ? AND conversation_key IN (SELECT value FROM json_each(?))';
const newest = 'ORDER BY last_event_at DESC LIMIT ?';

type Db = Pick<Database, 'all' | 'get'>;

/**
 * Sessions by their last event, newest first. Those in `live` (whose program runs) are active regardless of their last
 * event; null if it is unknown which these are.
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

/** How many sessions are active now. */
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

// A session may be known only from its transcript, if it has no events, or none yet.
const upsertOfTerminal = `
INSERT INTO session (conversation_key, surface, identity, state, state_at, first_event_at, last_event_at, last_text_at, events,
  turns, input_tokens, output_tokens, cost_usd, billed_cost_usd)
VALUES (?, 'terminal', ?, 'idle', -1, ?, ?, -1, 0, 0, 0, 0, 0, 0)
ON CONFLICT (conversation_key) DO UPDATE SET
  last_event_at = CASE WHEN excluded.last_event_at > session.last_event_at THEN excluded.last_event_at ELSE session.last_event_at END`;

/** Adds a terminal session (times in epoch ms) to the sessions; returns the number of changed rows. */
export const keepTerminalSession = (
  db: Pick<Database, 'run'>,
  { key, identity, startedAt, lastAt }: { key: string | null; identity: string; startedAt: number; lastAt: number },
): Promise<number> => db.run(upsertOfTerminal, key, identity, startedAt, lastAt);

/** Values with a time in the future (?19) were stored by a wrong clock, and are overwritten. */
const mergeSession = `
INSERT INTO session (conversation_key, surface, instance_id, identity, principal, state, state_at, first_event_at,
  last_event_at, last_text, last_text_at, events, turns, input_tokens, output_tokens, cost_usd, billed_cost_usd, unpriced)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (conversation_key) DO UPDATE SET
  surface = coalesce(excluded.surface, session.surface),
  instance_id = coalesce(excluded.instance_id, session.instance_id),
  identity = coalesce(excluded.identity, session.identity),
  principal = coalesce(excluded.principal, session.principal),
  state = CASE WHEN excluded.state_at >= session.state_at OR session.state_at > ?19 THEN excluded.state ELSE session.state END,
  state_at = CASE WHEN excluded.state_at >= session.state_at OR session.state_at > ?19 THEN excluded.state_at ELSE session.state_at END,
  first_event_at = CASE WHEN excluded.first_event_at < session.first_event_at THEN excluded.first_event_at ELSE session.first_event_at END,
  last_event_at = CASE WHEN excluded.last_event_at > session.last_event_at OR session.last_event_at > ?19 THEN excluded.last_event_at ELSE session.last_event_at END,
  last_text = CASE WHEN excluded.last_text_at >= session.last_text_at OR session.last_text_at > ?19 THEN excluded.last_text ELSE session.last_text END,
  last_text_at = CASE WHEN excluded.last_text_at >= session.last_text_at OR session.last_text_at > ?19 THEN excluded.last_text_at ELSE session.last_text_at END,
  events = session.events + excluded.events,
  turns = session.turns + excluded.turns,
  input_tokens = session.input_tokens + excluded.input_tokens,
  output_tokens = session.output_tokens + excluded.output_tokens,
  cost_usd = session.cost_usd + excluded.cost_usd,
  billed_cost_usd = session.billed_cost_usd + excluded.billed_cost_usd,
  unpriced = session.unpriced + excluded.unpriced`;

const endTurnsBefore =
  "UPDATE session SET state = 'idle', state_at = ? WHERE state = 'running' AND (state_at < ? OR state_at > ?)";

/** The changes of sessions in one commit, collected in memory and written once at its end. */
type SessionSums = { add(event: StoredEvent): void; write(): void };

export function createSessionWriter(db: BatchDatabase): () => SessionSums {
  const merge = db.statement(mergeSession);
  const endTurns = db.statement(endTurnsBefore);
  const storedStart = factInBatch(db, 'core_started_at');
  return () => {
    const rows = new Map<string, SessionRow>();
    let coreStart = 0;
    let possibleUntil = 0;
    return {
      add(event) {
        possibleUntil = Math.max(possibleUntil, event.received_at + maxAheadMs);
        if (isCoreStart(event)) coreStart = Math.max(coreStart, event.ts);
        if (event.session === null || !concernsSession(event) || isTitled(event)) return;
        const row = rows.get(event.session) ?? newRow(event.session, event.ts);
        rows.set(event.session, row);
        addToRow(row, event);
      },
      write() {
        const noted = storedStart.read() ?? 0;
        const known = noted > possibleUntil ? 0 : noted;
        for (const row of rows.values()) merge.run(...valuesOf(row, Math.max(known, coreStart)), possibleUntil);
        if (coreStart <= known) return;
        storedStart.keep(coreStart);
        endTurns.run(coreStart, coreStart, possibleUntil);
      },
    };
  };
}

/** A turn that started before the core did is over, even if its event arrives late. */
function valuesOf(row: SessionRow, coreStart: number) {
  const state = row.state === 'running' && row.state_at < coreStart ? 'idle' : row.state;
  return [
    row.conversation_key,
    row.surface,
    row.instance_id,
    row.identity,
    row.principal,
    state,
    row.state_at,
    row.first_event_at,
    row.last_event_at,
    row.last_text,
    row.last_text_at,
    row.events,
    row.turns,
    row.input_tokens,
    row.output_tokens,
    row.cost_usd,
    row.billed_cost_usd,
    row.unpriced,
  ];
}
