import { atOnce, inTurns, mapParts, maskingOf, type Asked, type Masking } from './mask-value.ts';
import type { Offload } from './offload.ts';
import { placeholder } from './placeholder.ts';

declare const masked: unique symbol;

/** JSON text that has passed the mask. Only an `OutboundMask` makes it, and all writers of frames and events require it. */
export type MaskedJson = string & { readonly [masked]: true };

/** The mask at the serializer of a sink: known secrets are masked in every string, number and key that is sent. */
export type OutboundMask = {
  /** Serializes and masks a value. */
  json(value: unknown): MaskedJson;
  /** The same, and the value of the masked text: the given one when nothing was masked. `json`: the value's JSON, if it exists already. */
  write<T>(value: T, json?: string): { value: T; json: MaskedJson };
  /** Masks text that is JSON already. */
  jsonText(json: string): MaskedJson;
  /** The same for a long text, in slices, so that nothing else waits for all of it. */
  longJsonText(json: string): MaskedJson | Promise<MaskedJson>;
  /** Masks any other text: a header, a name, lines of metrics. */
  text(text: string): string;
};

/** How long texts are masked: in slices, or as a whole in the thread. */
type LongTexts = { inSlices(text: string): string | Promise<string>; offload?: Offload };

/**
 * A mask that uses `known` to mask texts. It searches the JSON text first, in which everything but escaped characters is
 * literal, so most responses cost one pass and no copy. It walks the value only when something was found.
 */
export function createOutboundMask(known: (text: string) => string, long: LongTexts = { inSlices: known }): OutboundMask {
  const ask = ({ text }: Asked) => known(text);
  /** True for most texts: all is literal in them and nothing was found. */
  const isPlain = (json: string) => !json.includes('\\') && known(json) === json;
  const mask: OutboundMask = {
    json: (value) => mask.write(value).json,
    write<T>(value: T, json = JSON.stringify(value) ?? 'null') {
      const found = isPlain(json) ? null : atOnce(withoutSecrets(json), ask);
      // The cast holds because a mask changes texts, and hardly ever a shape.
      return found === null ? { value, json: json as MaskedJson } : { value: found.value as T, json: found.json as MaskedJson };
    },
    jsonText: (json) => (isPlain(json) ? json : (atOnce(withoutSecrets(json), ask)?.json ?? json)) as MaskedJson,
    longJsonText: async (json) =>
      ((await long.offload?.(json, 0)) ??
        (await inTurns(withoutSecrets(json), ({ text }) => long.inSlices(text)))?.json ??
        json) as MaskedJson,
    text: known,
  };
  return mask;
}

/** Wraps masked JSON as a member of an object. The other members are ours, so they need no mask. */
export const maskedMember = (id: number, name: string, json: MaskedJson): MaskedJson =>
  `{"id":${id},"${name}":${json}}` as MaskedJson;

/** Masks nothing. For tests, and for a process whose purpose is to hand out secrets. */
export const noMask: OutboundMask = createOutboundMask((text) => text);

/** The masked value of JSON text, and its JSON; null when it contains no secret. */
function* withoutSecrets(json: string): Masking<{ value: unknown; json: string } | null> {
  if (yield* isClean(json)) return null;
  // Parsed from the JSON, so that what is masked is exactly what would have been written.
  const value = yield* withoutSpread(yield* maskingOf(JSON.parse(json)));
  return { value, json: JSON.stringify(value) };
}

function* isClean(json: string): Masking<boolean> {
  if (yield* isKnown(json)) return false;
  for (const text of escapedStrings(json)) if (yield* isKnown(text)) return false;
  return true;
}

function* isKnown(text: string): Masking<boolean> {
  return (yield { text, isNumber: false }) !== text;
}

/** A secret that is JSON itself may span several values: the smallest part that contains it is masked as a whole. */
function* withoutSpread(value: unknown): Masking<unknown> {
  if (value === null || typeof value !== 'object' || !(yield* isKnown(JSON.stringify(value)))) return value;
  const inner = yield* mapParts(value, withoutSpread);
  if (!(yield* isKnown(JSON.stringify(inner)))) return inner;
  return Array.isArray(value) ? [placeholder] : { redacted: placeholder };
}

/** The strings of the JSON text that contain escapes. All others are literal. */
function* escapedStrings(json: string): Generator<string> {
  for (let at = json.indexOf('\\'); at !== -1; at = json.indexOf('\\', at)) {
    const start = json.lastIndexOf('"', at); // this is the first escape of the string, so the quote begins it
    at = endOfString(json, at);
    yield JSON.parse(json.slice(start, at)) as string;
  }
}

const quote = 0x22;
const backslash = 0x5c;

/** The place after the quote that ends a string, searched from one of its escapes on. */
function endOfString(json: string, escape: number): number {
  let at = escape;
  for (let unit = backslash; unit !== quote && at < json.length; unit = json.charCodeAt(at)) at += unit === backslash ? 2 : 1;
  return at + 1;
}
