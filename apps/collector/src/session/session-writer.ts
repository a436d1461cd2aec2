import type { SqliteDatabase } from '@svc/store/open-sqlite.ts';
import { maxAheadMs, type StoredEvent } from '../ingest/parse-event.ts';
import { isCoreStart, tellsOfSession } from './session-facts.ts';
import { addToRow, newRow, type SessionRow } from './session-row.ts';

/** What was noted of a time that is yet to come (?18) was noted by a wrong clock, and gives way. */
const mergeSession = `
INSERT INTO session (conversation_key, surface, instance_id, identity, principal, state, state_at, first_event_at,
  last_event_at, last_text, last_text_at, events, turns, input_tokens, output_tokens, cost_usd, billed_cost_usd)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (conversation_key) DO UPDATE SET
  surface = coalesce(excluded.surface, session.surface),
  instance_id = coalesce(excluded.instance_id, session.instance_id),
  identity = coalesce(excluded.identity, session.identity),
  principal = coalesce(excluded.principal, session.principal),
  state = CASE WHEN excluded.state_at >= session.state_at OR session.state_at > ?18 THEN excluded.state ELSE session.state END,
  state_at = CASE WHEN excluded.state_at >= session.state_at OR session.state_at > ?18 THEN excluded.state_at ELSE session.state_at END,
  first_event_at = CASE WHEN excluded.first_event_at < session.first_event_at THEN excluded.first_event_at ELSE session.first_event_at END,
  last_event_at = CASE WHEN excluded.last_event_at > session.last_event_at OR session.last_event_at > ?18 THEN excluded.last_event_at ELSE session.last_event_at END,
  last_text = CASE WHEN excluded.last_text_at >= session.last_text_at OR session.last_text_at > ?18 THEN excluded.last_text ELSE session.last_text END,
  last_text_at = CASE WHEN excluded.last_text_at >= session.last_text_at OR session.last_text_at > ?18 THEN excluded.last_text_at ELSE session.last_text_at END,
  events = session.events + excluded.events,
  turns = session.turns + excluded.turns,
  input_tokens = session.input_tokens + excluded.input_tokens,
  output_tokens = session.output_tokens + excluded.output_tokens,
  cost_usd = session.cost_usd + excluded.cost_usd,
  billed_cost_usd = session.billed_cost_usd + excluded.billed_cost_usd`;

const endTurnsBefore =
  "UPDATE session SET state = 'idle', state_at = ? WHERE state = 'running' AND (state_at < ? OR state_at > ?)";
const keepCoreStart = `INSERT INTO fact (name, value) VALUES ('core_started_at', ?)
ON CONFLICT (name) DO UPDATE SET value = excluded.value`;

/** What one commit says about sessions, gathered in memory and written once at its end. Made anew for every commit. */
export type SessionSums = { add(event: StoredEvent): void; write(): void };

export function createSessionWriter(db: SqliteDatabase): () => SessionSums {
  const merge = db.raw.prepare(mergeSession);
  const endTurns = db.raw.prepare(endTurnsBefore);
  const keepStart = db.raw.prepare(keepCoreStart);
  const readStart = db.raw.prepare("SELECT value FROM fact WHERE name = 'core_started_at'");
  return () => {
    const rows = new Map<string, SessionRow>();
    let coreStart = 0;
    let possibleUntil = 0;
    return {
      add(event) {
        possibleUntil = Math.max(possibleUntil, event.received_at + maxAheadMs);
        if (isCoreStart(event)) coreStart = Math.max(coreStart, event.ts);
        if (event.session === null || !tellsOfSession(event)) return;
        const row = rows.get(event.session) ?? newRow(event.session, event.ts);
        rows.set(event.session, row);
        addToRow(row, event);
      },
      write() {
        const noted = Number(readStart.get()?.['value'] ?? 0);
        const known = noted > possibleUntil ? 0 : noted;
        for (const row of rows.values()) merge.run(...valuesOf(row, Math.max(known, coreStart)), possibleUntil);
        if (coreStart <= known) return;
        keepStart.run(coreStart);
        endTurns.run(coreStart, coreStart, possibleUntil);
      },
    };
  };
}

/** A turn that started before the core did is over, even when its event arrives late. */
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
  ];
}
