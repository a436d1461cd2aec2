import type { Steps } from './pace.ts';
import { invisibleUnits } from './unit-classes.ts';

/** Quickly tells ordinary text from text in which a pattern may begin. */
export type StartFilter = {
  /** A bit for the hash of the first four units of every pattern. */
  fours: Uint32Array;
  /** A bit for every two bytes that a pattern may begin with in an encoding of bytes, literally or with escapes. */
  pairs: Uint32Array;
  /** The text encodings in which a pattern may begin with those two bytes: UTF-8, UTF-16 of either byte order. */
  kinds: Uint8Array;
  /** 1 for every prefix of the first bytes of those, as `1 << count | bits`. */
  firstBits: Uint8Array;
  /** The shortest block of base64 that a pattern fits into. */
  shortestBlock: number;
};

const beginsBytes = 1;
export const beginsLittleEndian = 2;
export const beginsBigEndian = 4;

/** How many units are checked together. */
export const window = 4;

/** Hashes the last four units to one of 65,536 bits. */
export const hashOf = (units: number): number => Math.imul(units, 0x9e3779b1) >>> 16;

export const hasBit = (bits: Uint32Array, bit: number): boolean => ((bits[bit >>> 5]! >>> (bit & 31)) & 1) === 1;

const setBit = (bits: Uint32Array, bit: number): void => void (bits[bit >>> 5] = (bits[bit >>> 5] ?? 0) | (1 << (bit & 31)));

/** `shortest`: the length of the shortest pattern that may stand alone. */
export function* buildStartFilter(patterns: readonly string[], shortest: number): Steps<StartFilter> {
  const starts = new Set(patterns.map((pattern) => pattern.slice(0, window)));
  const fours = new Uint32Array(0x10000 / 32);
  for (const start of starts) addHashes(fours, start);
  yield;
  const kinds = yield* kindsOfPairs(starts);
  yield;
  const pairs = new Uint32Array(0x10000 / 32);
  const firstBits = new Uint8Array(512);
  for (let pair = 0; pair < kinds.length; pair++) {
    if (kinds[pair] === 0) continue;
    setBit(pairs, pair);
    addFirst(firstBits, pair >>> 8);
  }
  return { fours, pairs, kinds, firstBits, shortestBlock: Math.floor((shortest * 4) / 3) };
}

/** How many beginnings are processed in one step. */
const stepStarts = 64;

function* kindsOfPairs(starts: ReadonlySet<string>): Steps<Uint8Array> {
  const kinds = new Uint8Array(0x10000);
  const add = (first: number, next: number, kind: number) => void (kinds[(first << 8) | next]! |= kind);
  const firsts = new Set([...starts].flatMap((start) => firstBytes(start.charCodeAt(0))));
  let count = 0;
  for (const start of starts) {
    addPairs(start, (first, next) => add(first, next, beginsBytes));
    if (++count % stepStarts === 0) yield;
  }
  for (const [first, next] of escapePairs(firsts)) add(first, next, beginsBytes);
  for (const unit of [92, 37, 38, ...Array.from(starts, (start) => start.charCodeAt(0)), 43, 0xa0]) {
    add(unit & 255, unit >>> 8, beginsLittleEndian);
    add(unit >>> 8, unit & 255, beginsBigEndian);
  }
  return kinds;
}

/** The first bytes of all spellings of a unit in bytes: UTF-8, Latin-1, and a space as URL-encoded forms and editors write it. */
function firstBytes(unit: number): number[] {
  if ((unit & 0xfc00) === 0xd800) return [0xf0 | (((unit - 0xd7c0) << 10) >> 18)];
  if (unit === 32) return [32, 43, 0xa0, 0xc2];
  const [utf8] = Buffer.from(String.fromCharCode(unit), 'utf8');
  return unit > 0x7f && unit < 0x100 ? [unit, utf8!] : [utf8!];
}

function addHashes(bits: Uint32Array, start: string): void {
  let hashes = [0];
  for (const char of start.split('')) {
    const units = char === ' ' ? [32, 43] : [char.charCodeAt(0)];
    hashes = hashes.flatMap((hash) => units.map((unit) => (hash << 8) ^ unit));
  }
  for (const hash of hashes) setBit(bits, hashOf(hash));
}

function addPairs(start: string, add: (first: number, next: number) => void): void {
  const followers = [...firstBytes(start.charCodeAt(1)), ...anywhere];
  for (const first of firstBytes(start.charCodeAt(0))) {
    for (const next of first < firstLead ? followers : [...followers, ...continuations]) add(first, next);
  }
}

const firstLead = 0xc2;
const continuations = Array.from({ length: 64 }, (_, i) => 0x80 + i);
/** Bytes that may come between any two: they begin an escape, end a line, or begin an invisible character. */
const anywhere = [
  0x5c,
  0x25,
  0x26,
  0x0a,
  0x0d,
  0x00,
  ...new Set(invisibleUnits.map((unit) => Buffer.from(String.fromCharCode(unit))[0]!)),
];
const codesOf = (chars: string): number[] => Array.from(chars, (char) => char.charCodeAt(0));
const hexDigits = codesOf('0123456789abcdefABCDEF');
const letters = codesOf('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz');

function escapePairs(firsts: ReadonlySet<number>): [number, number][] {
  const followers: [number, Iterable<number>][] = [
    [92, [...codesOf('uUx01234567nrtbfvae'), ...firsts, ...anywhere]],
    [37, [...codesOf('u'), ...hexDigits, ...anywhere]],
    [38, [...codesOf('#'), ...letters, ...anywhere]],
  ];
  return followers.flatMap(([first, seconds]) => Array.from(seconds, (second): [number, number] => [first, second]));
}

function addFirst(firstBits: Uint8Array, byte: number): void {
  for (let count = 0; count <= 8; count++) firstBits[(1 << count) | (byte >>> (8 - count))] = 1;
}
