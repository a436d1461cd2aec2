import type { Schema } from './schema.ts';

/** Kinds the service itself emits. Others are accepted and stored as they come. */
export const eventKinds = [
  'inbound',
  'queued',
  'thinking',
  'tool',
  'tool_result',
  'ask',
  'asked',
  'outbound',
  'token-usage',
  'turn',
  'denied',
  'delivery',
  'moderation',
  'engine',
  'session',
  'trust',
  'spend',
  'announcement',
  'instance',
  'login',
  'service',
  'dropped',
] as const;
export type EventKind = (typeof eventKinds)[number] | (string & {});

/** A telemetry record (decisions: Collector). `id` makes ingest idempotent; `ts` is epoch ms. */
export type TelemetryEvent = {
  id: string;
  ts: number;
  /** When the collector received it, by its own clock; a producer does not set this. */
  received_at?: number;
  kind: EventKind;
  surface: string | null;
  /** The conversation key. */
  session: string | null;
  instance_id: string | null;
  /** The raw sender. */
  identity: string | null;
  /** Key of the principal it resolved to. */
  principal: string | null;
  text: string | null;
  payload: Record<string, unknown>;
  cost_usd: number | null;
  billed_cost_usd: number | null;
  billed: boolean;
  injected: boolean;
  /** One trace id from the connector to the engine. */
  request_id: string | null;
};

/** An event as a producer emits it; the emitter fills in the rest. */
export type PartialEvent = { kind: EventKind } & Partial<TelemetryEvent>;

const name = { type: ['string', 'null'], maxLength: 1024 } as const;
const cost = { type: ['number', 'null'], minimum: 0, maximum: 1_000_000 } as const;

/**
 * The limits of an event's fields. This is their only definition: producers cut events to them, and the collector refuses
 * longer ones and has a column for each field. Lengths are in UTF-16 units; the payload's is that of its JSON.
 */
export const eventFields = {
  id: { type: 'string', minLength: 1, maxLength: 128 },
  ts: { type: 'number', minimum: -8_640_000_000_000_000, maximum: 8_640_000_000_000_000 },
  kind: { type: 'string', minLength: 1, maxLength: 64 },
  surface: name,
  session: name,
  instance_id: name,
  identity: name,
  principal: name,
  text: { type: ['string', 'null'], maxLength: 256 * 1024 },
  payload: { type: 'object' },
  cost_usd: cost,
  billed_cost_usd: cost,
  billed: { type: 'boolean' },
  injected: { type: 'boolean' },
  request_id: name,
} as const satisfies Record<Exclude<keyof TelemetryEvent, 'received_at'>, Schema>;

/** The greatest length of a payload's JSON. */
export const maxPayloadLength = 256 * 1024;

/** One event as `POST /ingest` accepts it. */
export const eventSchema = { type: 'object', required: ['kind'], properties: eventFields } as const;
