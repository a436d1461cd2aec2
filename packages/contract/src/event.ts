/** Kinds the service itself emits. Others are accepted and stored as they come. */
export const eventKinds = [
  'inbound',
  'queued',
  'thinking',
  'tool',
  'tool_result',
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
  'service',
  'dropped',
] as const;
export type EventKind = (typeof eventKinds)[number] | (string & {});

/** A telemetry record (decisions: Collector). `id` makes ingest idempotent; `ts` is epoch ms. */
export type TelemetryEvent = {
  id: string;
  ts: number;
  /** When the collector got it, by its clock; a producer does not say. */
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

/** What a producer hands over; the rest is filled in by its emitter. */
export type PartialEvent = { kind: EventKind } & Partial<TelemetryEvent>;

const nullable = (type: string) => ({ type: [type, 'null'] });

/** One event as `POST /ingest` accepts it. */
export const eventSchema = {
  type: 'object',
  required: ['kind'],
  properties: {
    id: { type: 'string', minLength: 1, maxLength: 128 },
    ts: { type: 'number', minimum: -8_640_000_000_000_000, maximum: 8_640_000_000_000_000 },
    kind: { type: 'string', minLength: 1, maxLength: 64 },
    surface: nullable('string'),
    session: nullable('string'),
    instance_id: nullable('string'),
    identity: nullable('string'),
    principal: nullable('string'),
    text: nullable('string'),
    payload: { type: 'object' },
    cost_usd: nullable('number'),
    billed_cost_usd: nullable('number'),
    billed: { type: 'boolean' },
    injected: { type: 'boolean' },
    request_id: nullable('string'),
  },
};
