import type { KeywordTable } from './keyword-table.ts';
import { isLetterBeyond, isMailUnitBeyond } from './letters.ts';
import { isLower, isUpper, isWordUnit } from './unit-kinds.ts';

/** A run has no space, quote, bracket or list sign in it: a token, a URL, a value. Only ASCII: words of other scripts are no runs. */
export const isRun = (unit: number): boolean => unit < 128 && runUnits[unit] === 1;

/** True for what continues a run. On public surfaces that includes letters of other scripts, which mail addresses may contain. */
export const goesOn = (unit: number, holdsWords: boolean): boolean => isRun(unit) || (holdsWords && isLetterBeyond(unit));

/** What may belong to a mail address: words of scripts that are written without spaces form one run with it. */
export const joinsMail = (unit: number, holdsWords: boolean): boolean => isRun(unit) || (holdsWords && isMailUnitBeyond(unit));

/** True for what may come between an operator and its value. */
export const opensRun = (unit: number): boolean => unit < 128 && openers[unit] === 1;

/** How far before its keyword a secret may begin. */
const maxLookBack = 128;

const runUnits = unitSet(Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i)).join(''), '"\'`,;<>()[]{}|\\');
const openers = unitSet(' \t\r\n"\'`=:>|\\', '');

function unitSet(chars: string, without: string): Uint8Array {
  const set = new Uint8Array(128);
  for (const char of chars) if (!without.includes(char)) set[char.charCodeAt(0)] = 1;
  return set;
}

/**
 * Up to where text may be let out while nothing is open: a run at its end is held back while it may still turn out to be a secret,
 * that is, while it may begin a keyword or is no plain word. With `holdsWords` every unfinished run is held back, and so is what may
 * be the quoted part of a mail address.
 */
export function holdPoint(text: string, from: number, to: number, table: KeywordTable, holdsWords: boolean): number {
  let start = to;
  const least = Math.max(from, to - maxLookBack);
  while (start > least && joinsMail(text.charCodeAt(start - 1), holdsWords)) start--;
  if (holdsWords) return Math.min(start, quoteBefore(text, from, to));
  if (start === to) return start;
  if (table.isTokenStart(text.slice(start, to).toLowerCase())) return start;
  return start + plainLength(text, start, to);
}

/** Length of a plain word: letters, of which only the first may be a capital. */
function plainLength(text: string, from: number, to: number): number {
  let i = from;
  if (isUpper(text.charCodeAt(i))) i++;
  while (i < to && isLower(text.charCodeAt(i))) i++;
  return i - from;
}

/** The beginning of the run that contains a place: of a token, or of the name before a value. */
export function startOfRun(text: string, at: number, holdsWords = false): number {
  let start = Math.max(0, at);
  const least = Math.max(0, start - maxLookBack);
  while (start > least && joinsMail(text.charCodeAt(start - 1), holdsWords)) start--;
  return start;
}

/** The longest quoted part of a mail address, its quotes included. */
export const longestQuotedPart = 66;
export const quote = 34;
const backslash = 92;
const lineEnd = 10;
/** After one of these a quote closes something. */
export const closers = '.!?)]}"\'%';

/** Where a quote stands that is open at a place and may begin a mail address; the place itself if there is none. */
function quoteBefore(text: string, from: number, to: number): number {
  const least = Math.max(from, to - longestQuotedPart);
  let found = to;
  for (let i = to - 1; i >= least && text.charCodeAt(i) !== lineEnd; i--) {
    if (text.charCodeAt(i) !== quote) continue;
    const isEscaped = text.charCodeAt(i - 1) === backslash;
    if (opensQuote(text, i)) {
      if (!isEscaped) return i;
      if (found === to) found = i;
    } else if (!isEscaped && i < to - 1) break;
  }
  return found;
}

function opensQuote(text: string, at: number): boolean {
  let before = at - 1;
  while (before >= 0 && text.charCodeAt(before) === backslash) before--;
  const unit = text.charCodeAt(before);
  return before < 0 || !(isWordUnit(unit) || isLetterBeyond(unit) || closers.includes(String.fromCharCode(unit)));
}

/** The end of the run that contains a place; -1 when the text ends first. */
export function endOfRun(text: string, from: number): number {
  for (let i = from; i < text.length; i++) if (!isRun(text.charCodeAt(i))) return i;
  return -1;
}

const maxWord = 512;

/** The beginning of the word that ends at a place, punctuation included; for a long word, the beginning of its last run. */
export function startOfWord(text: string, at: number): number {
  let start = at;
  while (start > 0 && isRun(text.charCodeAt(start - 1))) start--;
  for (let word = start; word > at - maxWord; word--) if (endsWord(text.charCodeAt(word - 1))) return word;
  return text[start - 1] === '[' ? start - 1 : start; // a mask is never split
}

/** White space, or a quote. */
const endsWord = (unit: number): boolean => unit <= 32 || unit === 34 || unit === 39 || unit === 96;
