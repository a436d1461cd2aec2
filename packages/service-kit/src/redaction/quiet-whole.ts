import { mayHoldSpaced } from './spaced-values.ts';
import type { SecretMatcher } from './secret-matcher.ts';
import type { SecretPattern } from './secret-patterns.ts';
import { hasBit, hashOf, window, type StartFilter } from './start-filter.ts';
import { block, invisibleUnits, unitClasses } from './unit-classes.ts';

/** How many units are hashed together. */
const gram = 3;
/** Only this much of a longer pattern is searched for: more would fill the table. */
const longestHead = 32;

/** Openers of escapes, line ends, invisible characters and non-breaking spaces: with them a value may be spelled differently. */
const specialUnits = ['\\', '%', '&', '\xa0', ...invisibleUnits.map((unit) => String.fromCharCode(unit))];
const special = new RegExp(`[${specialUnits.map(escaped).join('')}]`);
const specialOfAscii = specialUnits.filter((unit) => unit < '\x80');

/** For ASCII text, a few searches for single characters cost a fifth of the regular expression. */
const holdsSpecial = (text: string): boolean =>
  isAscii(text) ? specialOfAscii.some((unit) => text.includes(unit)) : special.test(text);

/** Every unit beyond ASCII takes more than one byte. */
const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length;

/** For each hash of a gram, how far to advance without missing the head of a pattern; 0 where one may end. */
type Skips = { table: Uint8Array; head: number };

const known = new WeakMap<SecretMatcher, Skips>();

/**
 * True when a whole text contains none of the matcher's values, in any spelling; false when it has to be read. A text without
 * escapes can contain a value only literally or within a long block, and both can be ruled out quickly (Wu-Manber).
 */
export function isQuietWhole(text: string, matcher: SecretMatcher): boolean {
  if (matcher.isEmpty) return true;
  if (holdsSpecial(text) || holdsBlock(text, matcher.starts.shortestBlock)) return false;
  let skips = known.get(matcher);
  if (skips === undefined) known.set(matcher, (skips = skipsOf(matcher)));
  return !mayHoldHead(text, skips, matcher.starts) && (matcher.spaced === null || !mayHoldSpaced(matcher.spaced, text));
}

function mayHoldHead(text: string, { table, head }: Skips, { fours }: StartFilter): boolean {
  const behind = text.length - gram;
  for (let at = head - gram; at <= behind;) {
    const skip = table[hashOfGram(text.charCodeAt(at), text.charCodeAt(at + 1), text.charCodeAt(at + 2))]!;
    if (skip === 0 && hasBit(fours, hashOf(unitsFrom(text, at - (head - gram))))) return true;
    at += skip === 0 ? 1 : skip;
  }
  return false;
}

/** The units as the start filter takes them. */
function unitsFrom(text: string, from: number): number {
  let units = 0;
  for (let at = from; at < from + window; at++) units = (units << 8) ^ text.charCodeAt(at);
  return units;
}

/** Checks one unit in every `length`, which finds every run that is long enough. */
function holdsBlock(text: string, length: number): boolean {
  for (let at = length - 1; at < text.length; at += length) {
    if (!isBlock(text, at)) continue;
    let from = at;
    while (at - from < length - 1 && isBlock(text, from - 1)) from--;
    let to = at + 1;
    while (to - from < length && isBlock(text, to)) to++;
    if (to - from >= length) return true;
  }
  return false;
}

const isBlock = (text: string, at: number): boolean => unitClasses[text.charCodeAt(at)] === block;

function skipsOf({ patterns, literal }: SecretMatcher): Skips {
  const texts = [...patterns, ...literal.patterns].filter(standsAsItIs).map(({ text }) => text);
  const head = texts.reduce((least, { length }) => Math.min(least, length), longestHead);
  const table = new Uint8Array(0x10000).fill(head - gram + 1);
  for (const text of texts) {
    for (let at = 0; at + gram <= head; at++) {
      const skip = head - gram - at;
      forEachHash(text, at, (hash) => void (table[hash] = Math.min(table[hash]!, skip)));
    }
  }
  return { table, head };
}

/** True for a pattern that can occur without an escape. */
const standsAsItIs = ({ text, isBehindEscape, minimumSpan }: SecretPattern): boolean =>
  !isBehindEscape && minimumSpan <= text.length;

const space = 32;
const plus = 43;

/** Hashes both spellings of a space, which may be a plus sign. */
function forEachHash(text: string, at: number, take: (hash: number) => void): void {
  const [a, b, c] = [text.charCodeAt(at), text.charCodeAt(at + 1), text.charCodeAt(at + 2)];
  take(hashOfGram(a, b, c));
  if (a !== space && b !== space && c !== space) return;
  for (let spelling = 1; spelling < 1 << gram; spelling++) {
    const other = (unit: number, bit: number) => (unit === space && (spelling & bit) !== 0 ? plus : unit);
    take(hashOfGram(other(a, 1), other(b, 2), other(c, 4)));
  }
}

const hashOfGram = (a: number, b: number, c: number): number => hashOf((a << 14) ^ (b << 7) ^ c);

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
