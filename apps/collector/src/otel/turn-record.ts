import type { StoredEvent } from '../ingest/parse-event.ts';

/** A tool call of a turn. Times are epoch ms; `endAt` is null while no result has come. */
export type ToolCall = { id: string; name: string; startAt: number; endAt: number | null; ok: boolean };

/** The facts about one turn from its events. It contains no text of people. */
export type TurnRecord = {
  turnId: string;
  /** The id that runs from the connector to the engine. */
  requestId: string | null;
  session: string | null;
  surface: string | null;
  instanceId: string | null;
  principal: string | null;
  injected: boolean;
  /** When its message arrived; else the time of its first event. */
  startAt: number;
  lastAt: number;
  queuedAt: number | null;
  runningAt: number | null;
  repliedAt: number | null;
  endedAt: number | null;
  outcome: string | null;
  /** Code of the error that it ended with. */
  error: string | null;
  engine: string | null;
  model: string | null;
  inputTokens: number;
  outputTokens: number;
  costUsd: number | null;
  billedCostUsd: number;
  tools: ToolCall[];
};

/** Further tool calls of a turn are left out. */
const maxTools = 200;
/** Maximum length of a name. */
const maxName = 256;

export const newRecord = (turnId: string, event: StoredEvent): TurnRecord => ({
  turnId,
  requestId: event.request_id,
  session: event.session,
  surface: event.surface,
  instanceId: event.instance_id,
  principal: event.principal,
  injected: false,
  startAt: event.ts,
  lastAt: event.ts,
  queuedAt: null,
  runningAt: null,
  repliedAt: null,
  endedAt: null,
  outcome: null,
  error: null,
  engine: null,
  model: null,
  inputTokens: 0,
  outputTokens: 0,
  costUsd: null,
  billedCostUsd: 0,
  tools: [],
});

/** Adds one event of the turn. */
export function addEvent(record: TurnRecord, event: StoredEvent): void {
  const { kind, ts, payload } = event;
  record.requestId ??= event.request_id;
  record.principal ??= event.principal;
  record.injected ||= event.injected;
  record.startAt = Math.min(record.startAt, ts);
  record.lastAt = Math.max(record.lastAt, ts);
  if (kind === 'queued') record.queuedAt ??= ts;
  else if (kind === 'denied') Object.assign(record, { outcome: 'denied', endedAt: ts });
  else if (kind === 'turn') addState(record, ts, payload);
  else if (kind === 'tool') addTool(record, event);
  else if (kind === 'tool_result') endTool(record, event);
  else if (kind === 'token-usage') addUsage(record, event);
  else if (kind === 'outbound') addReply(record, ts, payload);
}

function addState(record: TurnRecord, ts: number, payload: Record<string, unknown>): void {
  if (payload['what'] === 'started') record.runningAt = numberOf(payload['at']) ?? ts;
  if (payload['what'] !== 'ended') return;
  record.endedAt = ts;
  record.outcome = nameOf(payload['outcome']);
  record.error = nameOf(payload['error']);
  setRunning(record, ts, payload);
}

function addReply(record: TurnRecord, ts: number, payload: Record<string, unknown>): void {
  record.repliedAt = ts;
  record.engine = nameOf(payload['engine_id']) ?? record.engine;
  record.outcome ??= 'replied';
  setRunning(record, ts, payload);
}

/** A short turn reports only how long it ran. */
function setRunning(record: TurnRecord, ts: number, payload: Record<string, unknown>): void {
  const ms = numberOf(payload['ms']);
  if (ms !== null && ms > 0) record.runningAt ??= Math.max(record.startAt, ts - ms);
}

/** `text` of a tool event is the name of the tool. */
function addTool(record: TurnRecord, { ts, text, payload }: StoredEvent): void {
  if (record.tools.length >= maxTools) return;
  record.tools.push({ id: nameOf(payload['id']) ?? '', name: nameOf(text) ?? 'unknown', startAt: ts, endAt: null, ok: true });
}

function endTool(record: TurnRecord, { ts, payload }: StoredEvent): void {
  const call = record.tools.find(({ id, endAt }) => endAt === null && id === payload['id']);
  if (call !== undefined) Object.assign(call, { endAt: Math.max(ts, call.startAt), ok: payload['ok'] !== false });
}

/** Side calls of a turn, such as for its title, are part of its cost, but not of its tokens. */
function addUsage(record: TurnRecord, { usage, cost_usd, billed_cost_usd, payload }: StoredEvent): void {
  if (usage === null) return;
  if (cost_usd !== null) record.costUsd = (record.costUsd ?? 0) + cost_usd;
  record.billedCostUsd += billed_cost_usd ?? 0;
  if (usage.side !== null) return;
  record.engine = nameOf(payload['engine_id']) ?? record.engine;
  record.model = nameOf(payload['model']) ?? record.model;
  record.inputTokens += usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens;
  record.outputTokens += usage.output_tokens;
}

const numberOf = (value: unknown): number | null => (typeof value === 'number' && Number.isFinite(value) ? value : null);
const nameOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value.slice(0, maxName) : null);
