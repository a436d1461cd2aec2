import { eventFields, type PartialEvent, type TelemetryEvent } from '@svc/contract/event.ts';
import type { MaskedJson, OutboundMask } from '../redaction/outbound-mask.ts';
import { isWellFormedJson, wellFormed } from '../well-formed.ts';

/** A masked event, as a value and as one line of JSON. */
export type SerializedEvent = { event: TelemetryEvent; line: MaskedJson };

/** A longer event is cut: a feed is no place for whole files. */
export const maxLineLength = 256 * 1024;
const cutTextLength = 16 * 1024;
/** Only this much of a text that will be cut is masked. It leaves enough room for a secret that begins before the cut. */
const readTextLength = cutTextLength * 2;

/** Fills in the fields that a producer left out, from the defaults where there are any. */
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

/**
 * One JSON line of bounded length, with known secrets masked in all fields. A payload that cannot be serialized (a cycle, a
 * bigint) or is too large is left out. It is masked before it is cut, because half of a secret would not be recognized.
 */
export function serializeEvent(event: TelemetryEvent, mask: OutboundMask): SerializedEvent {
  const length = event.text?.length ?? 0;
  if (length > maxLineLength)
    return writeCut({ ...event, text: event.text!.slice(0, readTextLength) }, `a text of ${length} characters`, mask);
  const whole = tryWrite(event, mask);
  if (whole !== null && whole.json.length <= maxLineLength) return withShortNames({ event: whole.value, line: whole.json }, mask);
  if (whole !== null) return writeCut(whole.value, `${whole.json.length} characters`, mask);
  return writeCut({ ...event, payload: shortValues(event.payload) }, 'not writable as JSON', mask);
}

/** The same in slices, for an event with a long text. */
export async function serializeInSlices(event: TelemetryEvent, mask: OutboundMask): Promise<SerializedEvent> {
  const json = (event.text?.length ?? 0) > maxLineLength ? null : tryStringify(event);
  if (json === null || !isWellFormedJson(json)) return serializeEvent(event, mask);
  const line = await mask.longJsonText(json);
  const masked = line === json ? event : (JSON.parse(line) as TelemetryEvent);
  if (line.length <= maxLineLength) return withShortNames({ event: masked, line }, mask);
  return writeCut(masked, `${line.length} characters`, mask);
}

function writeCut(event: TelemetryEvent, why: string, mask: OutboundMask): SerializedEvent {
  const shown = mask.write({ ...event, payload: shortValues(event.payload) });
  const cut = mask.write(wellFormed(cutEvent(shown.value, why)));
  return { event: cut.value, line: cut.json };
}

const cutEvent = (event: TelemetryEvent, why: string): TelemetryEvent => ({
  ...cutNames(event),
  text: event.text?.slice(0, cutTextLength) ?? null,
  payload: { ...shortValues(event.payload), left_out: why },
});

const names = ['id', 'kind', 'surface', 'session', 'instance_id', 'identity', 'principal', 'request_id'] as const;
const isLong = (event: TelemetryEvent, name: (typeof names)[number]): boolean =>
  (event[name]?.length ?? 0) > eventFields[name].maxLength;

/** The collector refuses names beyond its limit, so they are cut. Then it is masked again: a cut name may match something else. */
function withShortNames(serialized: SerializedEvent, mask: OutboundMask): SerializedEvent {
  if (!names.some((name) => isLong(serialized.event, name))) return serialized;
  const { value, json } = mask.write(wellFormed(cutNames(serialized.event)));
  return { event: value, line: json };
}

function cutNames(event: TelemetryEvent): TelemetryEvent {
  const long = names.filter((name) => isLong(event, name));
  return { ...event, ...Object.fromEntries(long.map((name) => [name, event[name]?.slice(0, eventFields[name].maxLength)])) };
}

/** The short values of a payload are kept, so that token counts survive when a long value beside them is cut. */
function shortValues(payload: Record<string, unknown>): Record<string, unknown> {
  const isShort = (value: unknown) =>
    value === null || ['boolean', 'number'].includes(typeof value) || (typeof value === 'string' && value.length <= 256);
  const short = Object.entries(payload).filter(([key, value]) => key.length <= 64 && isShort(value));
  return Object.fromEntries(short.slice(0, 64));
}

function tryWrite(event: TelemetryEvent, mask: OutboundMask): { value: TelemetryEvent; json: MaskedJson } | null {
  const json = tryStringify(event);
  if (json === null) return null;
  return isWellFormedJson(json) ? mask.write(event, json) : mask.write(wellFormed(event)); // the collector refuses malformed text
}

function tryStringify(event: TelemetryEvent): string | null {
  try {
    return JSON.stringify(event);
  } catch {
    return null; // the caller leaves the payload out and notes it
  }
}
