import { beginsEntity, entityCode } from './html-entities.ts';
import { hexValues } from './unit-classes.ts';

/** An escape that is being read. */
export type Escape = {
  /** The index of its first unit among the pending ones. */
  start: number;
  kind: number;
  value: number;
  digits: number;
  /** How many digits are still missing. */
  left: number;
  name: string;
  /** The nesting depth of its first unit. */
  layer: number;
};

const fresh = 0;
const fixedDigits = 1;
const braced = 2;
const octal = 3;
const numbered = 4;
const decimal = 5;
const hexadecimal = 6;
const named = 7;
const bytes = 8;

const backslash = 92;
const percent = 37;
const ampersand = 38;
const semicolon = 59;
const maxDigits = 10;
const lastCode = 0x10ffff;
const lastLeadOfTwo = 0xdf;
const lastLeadOfThree = 0xef;

const letters = new Map(
  Object.entries({ n: 10, r: 13, t: 9, b: 8, f: 12, v: 11, a: 7, e: 27 }).map(([letter, code]) => [letter.charCodeAt(0), code]),
);

export const newEscape = (): Escape => ({ start: 0, kind: fresh, value: 0, digits: 0, left: 0, name: '', layer: 0 });

export function beginEscape(escape: Escape, start: number, layer: number): void {
  escape.start = start;
  escape.layer = layer;
  escape.kind = escape.value = escape.digits = escape.left = 0;
  escape.name = '';
}

/** True while only the first unit of the escape was read. */
export const isFresh = (escape: Escape): boolean => escape.kind === fresh;

/** True for an escape that is complete whatever comes next: an octal one has one to three digits. */
export const isWhole = ({ kind, digits }: Escape): boolean => kind === octal && digits > 0;

/** True for an escape that may represent one byte of a character instead of the whole character. */
export const standsForByte = ({ kind, digits }: Escape): boolean => kind === octal || (kind === fixedDigits && digits < 4);

/** Results of `readEscape`: the escape continues; the text is no escape; the escape ended before this unit. */
export const goesOn = -1;
export const noEscape = -2;
export const endedBefore = -3;

/**
 * Reads one more unit of the escape that begins with `first`. Returns the code point it represents, or one of the three
 * results above; `escape.value` is the code point of an escape that ended before this unit.
 */
export function readEscape(escape: Escape, first: number, unit: number): number {
  if (escape.kind === fresh) {
    if (first === backslash) return beginBackslash(escape, unit);
    if (first === percent) return beginPercent(escape, unit);
    if (first === ampersand) return beginEntity(escape, unit);
    beginBytes(escape, first);
  }
  switch (escape.kind) {
    case fixedDigits:
      return readFixed(escape, unit);
    case braced:
      return readUntil(escape, unit, 125, 16);
    case octal:
      return readOctal(escape, unit);
    case numbered:
      return beginNumber(escape, unit);
    case decimal:
      return readUntil(escape, unit, semicolon, 10);
    case hexadecimal:
      return readUntil(escape, unit, semicolon, 16);
    case named:
      return readName(escape, unit);
    default:
      return readByte(escape, unit);
  }
}

function beginBackslash(escape: Escape, unit: number): number {
  if (unit === 117) return expect(escape, fixedDigits, 4); // u
  if (unit === 120) return expect(escape, fixedDigits, 2); // x
  if (unit === 85) return expect(escape, fixedDigits, 8); // U
  if (unit >= 48 && unit <= 55) {
    escape.kind = octal;
    return readOctal(escape, unit);
  }
  return letters.get(unit) ?? unit; // before any other character it means nothing
}

function beginPercent(escape: Escape, unit: number): number {
  if (unit === 117) return expect(escape, fixedDigits, 4);
  expect(escape, fixedDigits, 2);
  return unit === 123 ? noEscape : readFixed(escape, unit);
}

function beginEntity(escape: Escape, unit: number): number {
  escape.kind = unit === 35 ? numbered : named;
  return unit === 35 ? goesOn : readName(escape, unit);
}

function beginNumber(escape: Escape, unit: number): number {
  const isHex = unit === 120 || unit === 88;
  escape.kind = isHex ? hexadecimal : decimal;
  return isHex ? goesOn : readUntil(escape, unit, semicolon, 10);
}

function beginBytes(escape: Escape, first: number): void {
  const following = first <= lastLeadOfTwo ? 1 : first <= lastLeadOfThree ? 2 : 3;
  expect(escape, bytes, following);
  escape.value = first & (0x3f >> following);
}

function expect(escape: Escape, kind: number, left: number): typeof goesOn {
  escape.kind = kind;
  escape.left = left;
  return goesOn;
}

const digitOf = (unit: number): number => (unit < 128 ? hexValues[unit]! : 16);

function readFixed(escape: Escape, unit: number): number {
  if (unit === 123 && escape.digits === 0) {
    escape.kind = braced;
    return goesOn;
  }
  const digit = digitOf(unit);
  if (digit > 15) return noEscape;
  escape.value = escape.value * 16 + digit;
  escape.digits++;
  if (--escape.left > 0) return goesOn;
  return escape.value > lastCode ? noEscape : escape.value;
}

function readUntil(escape: Escape, unit: number, end: number, base: number): number {
  if (unit === end) return escape.digits === 0 || escape.value > lastCode ? noEscape : escape.value;
  const digit = digitOf(unit);
  if (digit >= base || ++escape.digits > maxDigits) return noEscape;
  escape.value = escape.value * base + digit;
  return goesOn;
}

/** One to three digits; a first one over 3 allows for two. */
function readOctal(escape: Escape, unit: number): number {
  if (unit < 48 || unit > 55) return endedBefore;
  escape.value = escape.value * 8 + unit - 48;
  escape.digits++;
  return escape.value > 31 || escape.digits === 3 ? escape.value : goesOn;
}

function readName(escape: Escape, unit: number): number {
  if (unit === semicolon) return entityCode(escape.name) ?? noEscape;
  if (unit > 127) return noEscape;
  escape.name += String.fromCharCode(unit);
  return beginsEntity(escape.name) ? goesOn : noEscape;
}

/** The bytes of UTF-8, each written as a character of its own. */
function readByte(escape: Escape, unit: number): number {
  if (unit < 0x80 || unit > 0xbf) return noEscape;
  escape.value = escape.value * 64 + (unit & 0x3f);
  if (--escape.left > 0) return goesOn;
  return escape.value < 0x80 || escape.value > lastCode ? noEscape : escape.value;
}
