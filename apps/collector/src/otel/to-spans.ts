import { compositeKey } from '@svc/service-kit/composite-key.ts';
import { createHash } from 'node:crypto';
import type { StoredEvent } from '../ingest/parse-event.ts';
import type { ToolCall, TurnRecord } from './turn-record.ts';

export type SpanAttributes = Record<string, string | number | boolean>;

/** A finished span. Times are epoch ms; `error` is the code of what went wrong. */
export type SpanPlan = {
  name: string;
  kind: 'server' | 'internal' | 'client' | 'producer';
  traceId: string;
  spanId: string;
  /** Null is the root of its trace. */
  parentId: string | null;
  startAt: number;
  endAt: number;
  attributes: SpanAttributes;
  error: string | null;
};

/**
 * One trace for a turn: the turn, and below it its wait in the queue, its run in the engine with the tools it called, and
 * the reply. Names follow the semantic conventions for generative AI where those have one. It contains no text of people.
 */
export function toSpans(record: TurnRecord, agent: string): SpanPlan[] {
  const times = timesOf(record);
  const root = rootSpan(record, times, agent);
  const steps = [queuedSpan, runSpan, replySpan].map((step) => step(record, times, root)).filter((span) => span !== null);
  const run = steps.find(({ kind }) => kind === 'client');
  const tools = run === undefined ? [] : record.tools.map((call, i) => toolSpan(record, times, run, call, i));
  return [root, ...steps, ...tools];
}

type Times = { runsAt: number; endAt: number };

const timesOf = ({ startAt, runningAt, repliedAt, endedAt, lastAt }: TurnRecord): Times => ({
  runsAt: runningAt ?? startAt,
  endAt: Math.max(endedAt ?? 0, repliedAt ?? 0, lastAt),
});

const rootSpan = (record: TurnRecord, { endAt }: Times, agent: string): SpanPlan => ({
  name: `invoke_agent ${agent}`,
  kind: 'server',
  traceId: traceIdOf(record.requestId ?? record.turnId),
  spanId: spanIdOf(record.turnId),
  parentId: null,
  startAt: record.startAt,
  endAt,
  attributes: rootAttributes(record, agent),
  error: failureOf(record),
});

/** The common fields of every span below another one. */
const below = ({ traceId, spanId }: SpanPlan, turnId: string, ...step: string[]) =>
  ({ traceId, parentId: spanId, spanId: spanIdOf(turnId, ...step), kind: 'internal', error: null }) as const;

function queuedSpan({ turnId, queuedAt }: TurnRecord, { runsAt }: Times, root: SpanPlan): SpanPlan | null {
  if (queuedAt === null) return null;
  const endAt = Math.max(queuedAt, runsAt);
  return { ...below(root, turnId, 'queued'), name: 'queued', startAt: queuedAt, endAt, attributes: {} };
}

function runSpan(record: TurnRecord, { runsAt, endAt }: Times, root: SpanPlan): SpanPlan | null {
  if (record.outcome === 'denied') return null;
  return {
    ...below(root, record.turnId, 'run'),
    name: record.model === null ? 'chat' : `chat ${record.model}`,
    kind: 'client',
    startAt: runsAt,
    endAt: Math.max(runsAt, record.repliedAt ?? endAt),
    attributes: { 'gen_ai.operation.name': 'chat', ...modelAttributes(record) },
    error: failureOf(record),
  };
}

function replySpan({ turnId, repliedAt, injected }: TurnRecord, { endAt }: Times, root: SpanPlan): SpanPlan | null {
  if (repliedAt === null) return null;
  const attributes = { 'svc.injected': injected };
  return { ...below(root, turnId, 'reply'), name: 'reply', startAt: repliedAt, endAt, attributes };
}

const toolSpan = ({ turnId }: TurnRecord, { endAt }: Times, run: SpanPlan, call: ToolCall, index: number): SpanPlan => ({
  ...below(run, turnId, 'tool', String(index)),
  name: `execute_tool ${call.name}`,
  startAt: call.startAt,
  endAt: call.endAt ?? Math.max(call.startAt, endAt),
  attributes: {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': call.name,
    ...(call.id === '' ? {} : { 'gen_ai.tool.call.id': call.id }),
  },
  error: call.ok ? null : 'tool_error',
});

/** The delivery of a reply that was pushed to its channel, from its first event to its outcome. */
export function toDeliverySpan(event: StoredEvent, startAt: number, requestId: string | null): SpanPlan | null {
  const { payload, session, instance_id } = event;
  const { turn_id, delivery_id, what, attempts } = payload;
  if (typeof turn_id !== 'string' || typeof delivery_id !== 'string' || (what !== 'delivered' && what !== 'failed')) return null;
  return {
    name: 'deliver',
    kind: 'producer',
    traceId: traceIdOf(requestId ?? turn_id),
    spanId: spanIdOf(turn_id, 'delivery', delivery_id),
    parentId: spanIdOf(turn_id),
    startAt: Math.min(startAt, event.ts),
    endAt: event.ts,
    attributes: known({
      'gen_ai.conversation.id': session,
      'svc.instance_id': instance_id,
      'svc.delivery_id': delivery_id,
      'svc.attempts': typeof attempts === 'number' ? attempts : null,
    }),
    error: what === 'failed' ? 'delivery_failed' : null,
  };
}

/** A request id that is a W3C trace id is used unchanged; any other one is hashed, so that every process gets the same trace id. */
export const traceIdOf = (requestId: string): string =>
  /^(?!0{32}$)[0-9a-f]{32}$/.test(requestId) ? requestId : digest(requestId).slice(0, 32);
export const spanIdOf = (...parts: readonly string[]): string => digest(compositeKey(...parts)).slice(0, 16);
const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

const rootAttributes = (record: TurnRecord, agent: string): SpanAttributes =>
  known({
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': agent,
    'gen_ai.conversation.id': record.session,
    ...modelAttributes(record),
    'user.id': record.principal,
    'svc.turn_id': record.turnId,
    'svc.request_id': record.requestId,
    'svc.surface': record.surface,
    'svc.instance_id': record.instanceId,
    'svc.outcome': record.outcome ?? 'unknown',
    'svc.injected': record.injected,
    'svc.cost_usd': record.costUsd,
    'svc.billed_cost_usd': record.billedCostUsd,
  });

const modelAttributes = ({ engine, model, inputTokens, outputTokens }: TurnRecord): SpanAttributes =>
  known({
    'gen_ai.provider.name': engine,
    'gen_ai.request.model': model,
    'gen_ai.usage.input_tokens': inputTokens,
    'gen_ai.usage.output_tokens': outputTokens,
  });

/** Turns that were stopped or refused on purpose are not errors. */
const failureOf = ({ outcome, error }: TurnRecord): string | null => (outcome === 'failed' ? (error ?? 'failed') : null);

const known = (values: Record<string, string | number | boolean | null>): SpanAttributes =>
  Object.fromEntries(Object.entries(values).flatMap(([name, value]) => (value === null ? [] : [[name, value]])));
