import { atOnce, inTurns, mapParts, maskingOf, type Asked, type Masking } from './mask-value.ts';
import type { Offload } from './offload.ts';
import { placeholder } from './placeholder.ts';

declare const masked: unique symbol;

/** JSON text that has passed the mask. Only an `OutboundMask` makes it, and whatever writes frames and events asks for it. */
export type MaskedJson = string & { readonly [masked]: true };

/** The mask at the serializer of a sink: known secrets are taken out of every string, number and key of what leaves. */
export type OutboundMask = {
  /** A value as the JSON text that leaves. */
  json(value: unknown): MaskedJson;
  /** The same, with the value that the text stands for: the given one when nothing was masked in it. `json`: it, if written already. */
  write<T>(value: T, json?: string): { value: T; json: MaskedJson };
  /** JSON text that was written already. */
  jsonText(json: string): MaskedJson;
  /** The same of a long one in slices, so that nothing else waits for the whole of it. */
  longJsonText(json: string): MaskedJson | Promise<MaskedJson>;
  /** Any other text: a header, a name, lines of metrics. */
  text(text: string): string;
};

/** How long texts are masked: in slices, and as a whole in the thread, where that takes JSON text. */
type LongTexts = { inSlices(text: string): string | Promise<string>; offload?: Offload };

/**
 * A mask that asks `known` what may leave of a text. The JSON text is looked at first, in which everything but escaped
 * characters stands as it is: most answers cost one pass and no copy. Only when something is found is the value walked.
 */
export function createOutboundMask(known: (text: string) => string, long: LongTexts = { inSlices: known }): OutboundMask {
  const ask = ({ text }: Asked) => known(text);
  /** Most texts are: then they stand as they are, and are looked at once. */
  const isPlain = (json: string) => !json.includes('\\') && known(json) === json;
  const mask: OutboundMask = {
    json: (value) => mask.write(value).json,
    write<T>(value: T, json = JSON.stringify(value) ?? 'null') {
      const found = isPlain(json) ? null : atOnce(withoutSecrets(json), ask);
      // The cast: a mask changes texts, hardly ever a shape.
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

/** What has passed the mask as a member of an object of ours: nothing else in it is anybody's text. */
export const maskedMember = (id: number, name: string, json: MaskedJson): MaskedJson =>
  `{"id":${id},"${name}":${json}}` as MaskedJson;

/** Masks nothing. For tests, and for a process whose work it is to hand secrets out. */
export const noMask: OutboundMask = createOutboundMask((text) => text);

/** What JSON text stands for without the secrets in it; null when there are none. */
function* withoutSecrets(json: string): Masking<{ value: unknown; json: string } | null> {
  if (yield* isClean(json)) return null;
  // Parsed again, so that what is masked is what would have been written.
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

/** A secret that is JSON itself may be spread over several values: the smallest part that still shows it goes as a whole. */
function* withoutSpread(value: unknown): Masking<unknown> {
  if (value === null || typeof value !== 'object' || !(yield* isKnown(JSON.stringify(value)))) return value;
  const inner = yield* mapParts(value, withoutSpread);
  if (!(yield* isKnown(JSON.stringify(inner)))) return inner;
  return Array.isArray(value) ? [placeholder] : { redacted: placeholder };
}

/** The strings of JSON in which something is escaped. All others stand in the JSON as they are. */
function* escapedStrings(json: string): Generator<string> {
  for (let at = json.indexOf('\\'); at !== -1; at = json.indexOf('\\', at)) {
    const start = json.lastIndexOf('"', at); // nothing before it is escaped, so this begins the string
    at = endOfString(json, at);
    yield JSON.parse(json.slice(start, at)) as string;
  }
}

const quote = 0x22;
const backslash = 0x5c;

/** The place behind the quote that ends a string, from one of its escapes on. */
function endOfString(json: string, escape: number): number {
  let at = escape;
  for (let unit = backslash; unit !== quote && at < json.length; unit = json.charCodeAt(at)) at += unit === backslash ? 2 : 1;
  return at + 1;
}
