import { endOf, sliceFormatted, tidyEntities, type Entity, type FormattedText } from './formatted-text.ts';

/** Longest grapheme cluster to look for; a longer one is a prank, not writing. */
const longestCluster = 200;

export type SplitOptions = {
  limit: number;
  /** The platform shows at most this many entities of a message and drops the rest. */
  maxEntities?: number;
  /** Length of a part as the platform counts it. Default: its UTF-16 units. */
  lengthOf?(part: FormattedText): number;
};

/**
 * Cuts a text into messages of at most `limit` units and `maxEntities` entities, at a paragraph, line or word where possible. Formatting
 * that crosses a cut continues after it. Links, short code and grapheme clusters are kept whole.
 */
export function splitFormatted({ text, entities }: FormattedText, options: SplitOptions): FormattedText[] {
  const parts: FormattedText[] = [];
  let ahead = entities;
  for (let from = 0; from < text.length;) {
    ahead = ahead.filter((entity) => endOf(entity) > from);
    const { part, length } = firstPart({ text, entities: ahead }, from, options);
    if (part.text !== '') parts.push(part);
    from += length;
  }
  return parts;
}

/** The longest part that fits, and how much of the text it uses. */
function firstPart(whole: FormattedText, from: number, options: SplitOptions): { part: FormattedText; length: number } {
  const { limit, maxEntities = Infinity, lengthOf = ({ text }) => text.length } = options;
  for (let room = limit; ;) {
    const entities = startingBefore(whole.entities, from + room);
    const near = sliceFormatted({ text: whole.text, entities }, from, from + room + longestCluster);
    const window = windowOf(near, room, maxEntities);
    const at = window >= near.text.length ? window : cutOf(near, window);
    const part = tidyEntities(sliceFormatted(near, 0, at));
    part.entities = part.entities.slice(0, maxEntities);
    const length = /\s/.test(near.text.charAt(at)) ? at + 1 : at;
    const size = lengthOf(part);
    if (size <= limit || room < 4) return { part, length };
    room = Math.max(2, Math.floor((Math.min(room, at) * limit) / size) - 1);
  }
}

function startingBefore(entities: Entity[], end: number): Entity[] {
  const first = entities.findIndex(({ offset }) => offset >= end);
  return first < 0 ? entities : entities.slice(0, first);
}

/** The maximum that fits: the message ends where the first surplus entity begins. */
function windowOf({ text, entities }: FormattedText, limit: number, maxEntities: number): number {
  const surplus = entities[maxEntities]?.offset ?? Infinity;
  return Math.min(limit, text.length, surplus > 0 ? surplus : Infinity);
}

function cutOf({ text, entities }: FormattedText, window: number): number {
  const isOutside = (types: readonly Entity['type'][]) => (at: number) =>
    !entities.some((each) => types.includes(each.type) && isWithin(each, at));
  const last = (sign: string, isGood: (at: number) => boolean) => lastOf(text, sign, window, isGood);
  return (
    last('\n\n', isOutside(['pre', 'code', 'text_link'])) ??
    last('\n', isOutside(['code', 'text_link'])) ??
    last(' ', isOutside(['pre', 'code', 'text_link'])) ??
    beforeWhole(entities, clusterEnd(text, window), window)
  );
}

const isWithin = (entity: Entity, at: number): boolean => entity.offset < at && at < endOf(entity);

/** The last occurrence of the sign in the second half of what fits. */
function lastOf(text: string, sign: string, window: number, isGood: (at: number) => boolean): number | null {
  for (let at = text.lastIndexOf(sign, window); at > window / 2; at = text.lastIndexOf(sign, at - 1)) if (isGood(at)) return at;
  return null;
}

const wholeTypes: ReadonlySet<Entity['type']> = new Set(['code', 'text_link', 'verbatim']);

/** Moves a link or code that would be cut to the next message, unless it is long. */
function beforeWhole(entities: readonly Entity[], at: number, window: number): number {
  const cut = entities.find((each) => wholeTypes.has(each.type) && isWithin(each, at));
  return cut !== undefined && cut.offset > window / 2 ? cut.offset : at;
}

let segmenter: Intl.Segmenter | null = null;

/** The last end of a grapheme cluster at or before `most`; within a longer cluster, the last end of a code point. */
function clusterEnd(text: string, most: number): number {
  const from = sureEnd(text, most);
  let end = from;
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  for (const { index, segment } of segmenter.segment(text.slice(from, most + longestCluster))) {
    if (from + index + segment.length > most) break;
    end = from + index + segment.length;
  }
  if (end > 0) return end;
  const isHalf = /[\ud800-\udbff]/.test(text.charAt(most - 1)) && most > 1;
  return isHalf ? most - 1 : most;
}

/** The last position at or before `most` between two plain letters, where a cluster always ends. */
function sureEnd(text: string, most: number): number {
  for (let at = most; at > 0; at--) if (isPlain(text, at - 1) && isPlain(text, at)) return at;
  return 0;
}

const isPlain = (text: string, at: number): boolean => /[ -~]/.test(text.charAt(at));
