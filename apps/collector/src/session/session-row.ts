import type { StoredEvent } from '../ingest/parse-event.ts';
import { beginsTurn, snippetOf, turnState, type SessionState } from './session-facts.ts';

/** A row of the table `session`. Times are epoch ms; -1 stands for "never". */
export type SessionRow = {
  conversation_key: string;
  surface: string | null;
  instance_id: string | null;
  identity: string | null;
  principal: string | null;
  state: SessionState;
  state_at: number;
  first_event_at: number;
  last_event_at: number;
  last_text: string | null;
  last_text_at: number;
  events: number;
  turns: number;
  input_tokens: number;
  output_tokens: number;
  cost_usd: number;
  billed_cost_usd: number;
  /** Turns and side calls without a known price. */
  unpriced: number;
  /** Its title in the core; written separately. */
  title: string | null;
};

export const newRow = (key: string, ts: number): SessionRow => ({
  conversation_key: key,
  surface: null,
  instance_id: null,
  identity: null,
  principal: null,
  state: 'idle',
  state_at: -1,
  first_event_at: ts,
  last_event_at: ts,
  last_text: null,
  last_text_at: -1,
  events: 0,
  turns: 0,
  input_tokens: 0,
  output_tokens: 0,
  cost_usd: 0,
  billed_cost_usd: 0,
  unpriced: 0,
  title: null,
});

/** Adds one event. Values that the event does not have stay. */
export function addToRow(row: SessionRow, event: StoredEvent): void {
  row.surface = event.surface ?? row.surface;
  row.instance_id = event.instance_id ?? row.instance_id;
  row.identity = event.identity ?? row.identity;
  row.principal = event.principal ?? row.principal;
  row.first_event_at = Math.min(row.first_event_at, event.ts);
  row.last_event_at = Math.max(row.last_event_at, event.ts);
  row.events++;
  if (beginsTurn(event)) row.turns++;
  addState(row, event);
  addText(row, event);
  addCost(row, event);
}

function addState(row: SessionRow, event: StoredEvent): void {
  const state = turnState(event);
  if (state === null) return;
  if (event.ts >= row.state_at) Object.assign(row, { state, state_at: event.ts });
}

function addText(row: SessionRow, event: StoredEvent): void {
  const snippet = snippetOf(event);
  if (snippet !== null && event.ts >= row.last_text_at) Object.assign(row, { last_text: snippet, last_text_at: event.ts });
}

function addCost(row: SessionRow, { usage, cost_usd, billed_cost_usd }: StoredEvent): void {
  if (usage === null) return;
  row.cost_usd += cost_usd ?? 0;
  row.billed_cost_usd += billed_cost_usd ?? 0;
  if (cost_usd === null) row.unpriced += usage.side === null ? usage.turns : 1;
  if (usage.side !== null) return;
  row.input_tokens += usage.input_tokens;
  row.output_tokens += usage.output_tokens;
}
