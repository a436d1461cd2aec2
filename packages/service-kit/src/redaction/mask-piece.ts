import { toPlaceholder } from './placeholder.ts';
import type { Found } from './rules/rule.ts';
import { isWordUnit } from './unit-kinds.ts';

/** Masking can reveal another match. More rounds than this occur only in text crafted for it. */
const maxRounds = 5;

/** Finds secrets in a text. */
export type Finder = (text: string) => readonly Found[];

/** A piece of text, with its surroundings. */
type Piece = { text: string; from: number; until: number };

/**
 * The piece from `from` to `until`, masked repeatedly until nothing more is found, so that redacting it again changes nothing.
 * `reachesEnd`: a secret continues to the end of the piece.
 */
export function maskPiece(find: Finder, piece: Piece): { masked: string; reachesEnd: boolean } {
  const { from } = piece;
  const after = piece.text.length - piece.until;
  let { text } = piece;
  let reachesEnd = false;
  for (let round = 0; round < maxRounds; round++) {
    const until = text.length - after;
    const places = findPlaces(find, { text, from, until });
    if (places.length === 0) break;
    if (round === 0) reachesEnd = places.some(({ to }) => to >= until);
    const next = text.slice(0, from) + maskPlaces(text, from, text.length, places);
    if (next === text) break;
    text = next;
  }
  return { masked: text.slice(from, text.length - after), reachesEnd };
}

function findPlaces(find: Finder, { text, from, until }: Piece): Found[] {
  return find(text)
    .map((found) => ({
      from: Math.max(from, withoutBang(text, found.from)),
      to: Math.min(until, endOfWord(text, found.to)),
      kind: found.kind,
    }))
    .filter((place) => place.to > place.from)
    .toSorted((a, b) => a.from - b.from || b.to - a.to);
}

/** An exclamation mark before a mask would make it a Markdown image, whose address may be anywhere. */
function withoutBang(text: string, from: number): number {
  let start = from;
  while (start > 0 && text[start - 1] === '!') start--;
  return start;
}

/** The rest of the word after a secret is masked too: it is part of the secret, or would look like another one. */
function endOfWord(text: string, to: number): number {
  let end = to;
  while (end < text.length && isWordUnit(text.charCodeAt(end))) end++;
  return end;
}

/** Replaces the places in a piece of text. Places are sorted by their beginning; overlapping ones are merged. */
export function maskPlaces(text: string, from: number, to: number, places: readonly Found[]): string {
  let out = '';
  let at = from;
  for (const place of joined(places)) {
    out += text.slice(at, place.from) + masked(text, place);
    at = place.to;
  }
  return out + text.slice(at, to);
}

function joined(places: readonly Found[]): Found[] {
  const result: Found[] = [];
  for (const place of places) {
    const last = result.at(-1);
    if (last === undefined || place.from >= last.to) result.push({ ...place });
    else last.to = Math.max(last.to, place.to);
  }
  return result;
}

const onlyPlaceholder = /^\[redacted:[a-z-]{1,20}\]$/;

/** An existing mask stays unchanged, so that redacting twice gives the same text. */
function masked(text: string, { from, to, kind }: Found): string {
  const value = text.slice(from, to);
  return onlyPlaceholder.test(value) ? value : toPlaceholder(kind);
}
