import type { PartialEvent, TelemetryEvent } from '@svc/contract/event.ts';
import { wellFormedJson } from '../well-formed.ts';

export type SerializedEvent = { event: TelemetryEvent; line: string };

/** An event of more characters than this is cut: a feed is no place for whole files. */
export const maxLineLength = 256 * 1024;
const cutTextLength = 16 * 1024;
const cutNameLength = 1024;

/** Fills in what a producer left out; a default counts only where the producer said nothing. */
export function toEvent(partial: PartialEvent, defaults: Partial<TelemetryEvent>, id: string, ts: number): TelemetryEvent {
  return {
    id: partial.id ?? id,
    ts: partial.ts ?? ts,
    kind: partial.kind,
    surface: partial.surface ?? defaults.surface ?? null,
    session: partial.session ?? defaults.session ?? null,
    instance_id: partial.instance_id ?? defaults.instance_id ?? null,
    identity: partial.identity ?? defaults.identity ?? null,
    principal: partial.principal ?? defaults.principal ?? null,
    text: partial.text ?? defaults.text ?? null,
    payload: partial.payload ?? defaults.payload ?? {},
    cost_usd: partial.cost_usd ?? defaults.cost_usd ?? null,
    billed_cost_usd: partial.billed_cost_usd ?? defaults.billed_cost_usd ?? null,
    billed: partial.billed ?? defaults.billed ?? false,
    injected: partial.injected ?? defaults.injected ?? false,
    request_id: partial.request_id ?? defaults.request_id ?? null,
  };
}

/** One JSON line of bounded length. A payload that cannot be written (a cycle, a bigint) or is too large is left out. */
export function serializeEvent(event: TelemetryEvent): SerializedEvent {
  const whole = tryStringify(event);
  if (whole !== null && whole.length <= maxLineLength) return { event, line: whole };
  const cut = cutEvent(event, whole === null ? 'not writable as JSON' : `${whole.length} characters`);
  return { event: cut, line: wellFormedJson(cut) };
}

function cutEvent(event: TelemetryEvent, why: string): TelemetryEvent {
  const cut = (text: string | null) => text?.slice(0, cutNameLength) ?? null;
  return {
    ...event,
    id: event.id.slice(0, 128),
    kind: event.kind.slice(0, 64),
    surface: cut(event.surface),
    session: cut(event.session),
    instance_id: cut(event.instance_id),
    identity: cut(event.identity),
    principal: cut(event.principal),
    request_id: cut(event.request_id),
    text: event.text?.slice(0, cutTextLength) ?? null,
    payload: { ...shortValues(event.payload), left_out: why },
  };
}

/** The short values of a payload are kept, so that tokens still count when a long value beside them is cut. */
function shortValues(payload: Record<string, unknown>): Record<string, unknown> {
  const isShort = (value: unknown) =>
    value === null || ['boolean', 'number'].includes(typeof value) || (typeof value === 'string' && value.length <= 256);
  const short = Object.entries(payload).filter(([key, value]) => key.length <= 64 && isShort(value));
  return Object.fromEntries(short.slice(0, 64));
}

function tryStringify(event: TelemetryEvent): string | null {
  try {
    return wellFormedJson(event); // the collector refuses what is not
  } catch {
    return null; // the caller leaves the payload out and says so
  }
}
