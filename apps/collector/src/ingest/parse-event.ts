import { eventFields, maxPayloadLength, type TelemetryEvent } from '@svc/contract/event.ts';
import { isRecord, isDeeper } from '@svc/contract/json-value.ts';
import { illFormedIn } from '@svc/service-kit/well-formed.ts';
import { parseUsage, type EventUsage } from './parse-usage.ts';

/** A checked event with the values that the tables need. `ts` is its position in time. */
export type StoredEvent = Omit<TelemetryEvent, 'payload'> & {
  received_at: number;
  /** The time that the event gave, if that is impossible; else null, and `ts` is that time. */
  claimed_at: number | null;
  payload: Record<string, unknown>;
  payloadText: string;
  /** Present on `token-usage` events only. */
  usage: EventUsage | null;
};

export type ParsedEvent = { event: StoredEvent } | { error: string };

/** Values for fields that an event leaves out. */
export type EventDefaults = { now: number; nextId: () => string };

/** An event further in the future has a wrong clock. It gets the time of its arrival; otherwise it would stay the newest for ever. */
export const maxAheadMs = 5 * 60_000;
const maxDepth = 64;

type Fields = typeof eventFields;
type TextField = { [Field in keyof Fields]: Fields[Field] extends { maxLength: number } ? Field : never }[keyof Fields];
type CostField = 'cost_usd' | 'billed_cost_usd';

class Invalid extends Error {}

/**
 * Checks one event of a body. Written by hand for speed, because it runs for every event of every producer. An error is a
 * text that names the field, for the sender of the event.
 */
export function parseEvent(value: unknown, defaults: EventDefaults): ParsedEvent {
  if (!isRecord(value)) return { error: 'an event must be a JSON object' };
  try {
    return { event: readEvent(value, defaults) };
  } catch (error) {
    if (error instanceof Invalid) return { error: error.message };
    throw error;
  }
}

function readEvent(raw: Record<string, unknown>, { now, nextId }: EventDefaults): StoredEvent {
  const payload = readPayload(raw['payload']);
  const claimed = raw['ts'] == null ? now : time(raw['ts']);
  const isPossible = claimed <= now + maxAheadMs && claimed >= 0;
  const event: StoredEvent = {
    id: raw['id'] == null ? nextId() : requiredText(raw, 'id'),
    ts: isPossible ? claimed : now,
    received_at: now,
    claimed_at: isPossible ? null : claimed,
    kind: requiredText(raw, 'kind'),
    surface: text(raw, 'surface'),
    session: text(raw, 'session'),
    instance_id: text(raw, 'instance_id'),
    identity: text(raw, 'identity'),
    principal: text(raw, 'principal'),
    text: text(raw, 'text'),
    payload,
    payloadText: writePayload(payload),
    cost_usd: cost(raw, 'cost_usd'),
    billed_cost_usd: cost(raw, 'billed_cost_usd'),
    billed: flag(raw, 'billed'),
    injected: flag(raw, 'injected'),
    request_id: text(raw, 'request_id'),
    usage: null,
  };
  if (event.kind !== 'token-usage') return event;
  const usage = parseUsage(payload);
  if ('error' in usage) throw new Invalid(usage.error);
  return { ...event, usage, principal: event.principal ?? usage.principal };
}

function requiredText(raw: Record<string, unknown>, field: TextField): string {
  const value = text(raw, field);
  if (value === null || value === '') throw new Invalid(`${field} is missing or empty`);
  return value;
}

function text(raw: Record<string, unknown>, field: TextField): string | null {
  const { maxLength } = eventFields[field];
  const value = raw[field];
  if (value === undefined || value === null) return null;
  if (typeof value !== 'string') throw new Invalid(`${field} must be a string`);
  if (value.length > maxLength) throw new Invalid(`${field} is longer than ${maxLength} characters`);
  if (!value.isWellFormed()) throw new Invalid(`${field} has broken characters`);
  return value;
}

function time(value: unknown): number {
  if (typeof value !== 'number' || !(Math.abs(value) <= eventFields.ts.maximum))
    throw new Invalid('ts must be a number of milliseconds');
  return Math.trunc(value);
}

function cost(raw: Record<string, unknown>, field: CostField): number | null {
  const { minimum, maximum } = eventFields[field];
  const value = raw[field];
  if (value === undefined || value === null) return null;
  if (typeof value !== 'number' || !(value >= minimum && value <= maximum)) {
    throw new Invalid(`${field} must be a number from ${minimum} to ${maximum}`);
  }
  return value;
}

function flag(raw: Record<string, unknown>, field: 'billed' | 'injected'): boolean {
  const value = raw[field] ?? false;
  if (typeof value !== 'boolean') throw new Invalid(`${field} must be true or false`);
  return value;
}

function readPayload(value: unknown): Record<string, unknown> {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) throw new Invalid('payload must be a JSON object');
  return value as Record<string, unknown>;
}

function writePayload(payload: Record<string, unknown>): string {
  const written = tryStringify(payload);
  if (written === null) throw new Invalid('payload is nested too deeply');
  const broken = illFormedIn(written, payload, 'payload');
  if (broken !== null) throw new Invalid(`${broken} has broken characters`);
  if (written.length > maxPayloadLength) throw new Invalid(`payload is longer than ${maxPayloadLength} characters`);
  // Parsers of readers fail on deep nesting. A shorter text cannot contain that many brackets.
  if (written.length > 2 * maxDepth && isDeeper(payload, maxDepth)) throw new Invalid('payload is nested too deeply');
  return written;
}

function tryStringify(payload: Record<string, unknown>): string | null {
  try {
    return JSON.stringify(payload);
  } catch {
    return null; // for parsed JSON the only possible reason is its depth, which overflows the stack
  }
}
