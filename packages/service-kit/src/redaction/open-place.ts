import { KeyBlockReader, keyBlockStart } from './key-blocks.ts';
import { goesOn, holdPoint, isRun, opensRun, startOfRun } from './held-text.ts';
import type { Keyword, KeywordTable } from './keyword-table.ts';
import { isQuote, mayBeQuoted, mayHoldPassword } from './value-ends.ts';
import { isNameUnit, isNumberUnit, isOperator, isWordUnit } from './unit-kinds.ts';

/** So far may an operator stand behind the name of an assignment, and so far the value behind the operator. */
const operatorWithin = 26;
const valueWithin = 8;
const lineOperatorWithin = 8;
const spanLength = 2048;
/** A password goes on so far behind the first character that no run holds. */
const passwordWithin = 64;
const maxLine = 4000;
/** A run or value that is shorter is no secret. */
const leastRun = 4;
/** Text that has left is kept this far back, as what stands before a secret. */
export const contextLength = 256;
/** A quoted value has no more characters. */
const longestQuoted = 200;
const never = -1;

/** What of a text is at hand: where it was settled, however it is cut, and where reading it has come to. */
type Reading = { buffer: string; settled: number; at: number };

/**
 * The place in a text that a keyword has opened: which keywords were seen there, where masks may begin, and what keeps it
 * open. All positions are of the buffer that the detector holds; -1 says that there is none.
 */
export class OpenPlace {
  readonly seen = new Set<number>();
  /** Masks start here or later; -1 while nothing is open. */
  floor = never;
  /** What the rules get to see begins here. */
  contextFrom = Number.MAX_SAFE_INTEGER;
  /** And no further than this before `floor`. */
  reach = contextLength;
  inRun = false;
  /** Where the head line of a key has ended, and what reads on from there. */
  keyFrom = never;
  keyReader: KeyBlockReader | null = null;
  readonly #table: KeywordTable;
  readonly #holdsWords: boolean;
  #runFrom = 0;
  /** The quote before a value: list signs and brackets are part of the value until it comes again. */
  #quote = never;
  #inNumber = false;
  #numberFrom = 0;
  #operatorBy = never;
  #lineOperatorBy = never;
  #valueBy = never;
  #openUntil = never;
  #lineUntil = never;
  /** The place behind `://`, in its run. */
  #addressFrom = never;
  #isRipe = false;

  constructor(table: KeywordTable, holdsWords: boolean) {
    this.#table = table;
    this.#holdsWords = holdsWords;
  }

  isOpen(at: number): boolean {
    if (this.inRun || this.#inNumber || this.keyFrom !== never) return true;
    return at <= this.#valueBy || at <= this.#openUntil || at <= this.#lineUntil;
  }

  /** A name was seen, and its operator may follow. */
  isArmed(at: number): boolean {
    return at <= this.#operatorBy || at <= this.#lineOperatorBy;
  }

  /** True when there was enough of it for the rules to be asked. */
  isRipe(at: number): boolean {
    if (this.#isRipe || this.#lineUntil !== never || this.#openUntil !== never) return true;
    return (this.inRun && at - this.#runFrom >= leastRun) || (this.#inNumber && at - this.#numberFrom >= leastRun);
  }

  /** A keyword has ended just before `at`. */
  takeKeyword(index: number, { word, opening, isBound }: Keyword, reading: Reading): void {
    const { buffer, at } = reading;
    const from = at - word.length;
    if (isBound && from > 0 && isWordUnit(buffer.charCodeAt(from - 1))) return;
    if (this.seen.size === 0) this.contextFrom = startOfRun(buffer, from, this.#holdsWords) - 1;
    this.seen.add(index);
    switch (opening) {
      case 'address':
      case 'token':
      case 'assigned-token':
        if (opening === 'address') this.#addressFrom = at;
        this.#openRun(from, reading);
        if (opening === 'assigned-token') this.contextFrom = Math.min(this.contextFrom, from - contextLength / 2);
        if (!this.inRun) this.#runFrom = startOfRun(buffer, from, this.#holdsWords);
        this.inRun = true;
        break;
      case 'assignment':
        this.#operatorBy = at + operatorWithin;
        break;
      case 'value':
        this.#open(from, at, buffer);
        this.#valueBy = at + valueWithin;
        break;
      case 'line':
        this.#lineOperatorBy = at + lineOperatorWithin;
        break;
      case 'span':
        this.#open(from, at, buffer);
        this.#openUntil = at + spanLength;
        break;
      case 'phone':
        this.#openRun(from, reading);
        if (!this.#inNumber) this.#numberFrom = from;
        this.#inNumber = true;
        break;
      case 'key-block':
        if (!keyBlockStart.isHead(buffer, from)) break;
        this.#open(from, at, buffer);
        this.#readKey(at, keyBlockStart.prefixOf(buffer, from));
        break;
    }
  }

  /** One more unit, just before `at`, of a place that is open, or may soon be. */
  takeUnit(unit: number, buffer: string, at: number): void {
    const operates = isOperator(unit);
    if (operates) this.#takeOperator(buffer, at);
    else if (!isNameUnit(unit)) this.#operatorBy = this.#lineOperatorBy = never;
    if (unit === 10 && this.#lineUntil !== never) {
      this.#lineUntil = never;
      this.#isRipe = true;
    }
    if (this.#inNumber && !isNumberUnit(unit)) {
      this.#inNumber = false;
      if (at - 1 - this.#numberFrom >= leastRun) this.#isRipe = true;
      // Digits may stand within a word, of which a keyword may follow: all of it is one place.
      if (!this.inRun && isRun(unit)) this.beginRun(at - 1);
    }
    if (this.inRun && goesOn(unit, this.#holdsWords)) return;
    if (!isRun(unit)) this.#takeRunEnd(unit, buffer, at);
    else if (at - 1 <= this.#valueBy && !operates) this.#beginValue(buffer, at - 1);
  }

  /** It is no key. */
  endKey(): void {
    this.keyFrom = never;
    this.keyReader = null;
  }

  beginRun(from: number): void {
    this.inRun = true;
    this.#runFrom = from;
  }

  #beginValue(buffer: string, from: number): void {
    this.beginRun(from);
    const before = buffer.charCodeAt(from - 1);
    this.#quote = isQuote(before) ? before : never;
  }

  /** What was open is looked at up to `from`, and stays open: what a rule needs of it is kept as context. */
  carry(from: number): void {
    const needed = this.#lineUntil !== never ? maxLine : from <= this.#openUntil ? spanLength : 0;
    this.contextFrom = Math.max(this.floor - this.reach, from - needed - contextLength);
    this.reach = from - this.contextFrom;
    this.floor = from;
    this.#isRipe = false;
  }

  /** What was open is looked at and done with. */
  settle(isCut: boolean): void {
    this.floor = never;
    this.reach = contextLength;
    this.endKey();
    this.#isRipe = this.#inNumber = false;
    this.#quote = never;
    this.#valueBy = this.#lineUntil = this.#openUntil = this.#addressFrom = never;
    if (!isCut) this.inRun = false;
  }

  forget(): void {
    this.seen.clear();
    this.#operatorBy = this.#lineOperatorBy = never;
    this.contextFrom = Number.MAX_SAFE_INTEGER;
  }

  /** The buffer has lost so much at its beginning. */
  shift(by: number): void {
    const shifted = (position: number) => (position === never ? never : Math.max(never, position - by));
    if (this.floor !== never) this.floor -= by;
    if (this.contextFrom !== Number.MAX_SAFE_INTEGER) this.contextFrom -= by;
    this.#runFrom -= by;
    this.#numberFrom -= by;
    this.keyFrom = shifted(this.keyFrom);
    this.keyReader?.shift(by);
    this.#operatorBy = shifted(this.#operatorBy);
    this.#lineOperatorBy = shifted(this.#lineOperatorBy);
    this.#valueBy = shifted(this.#valueBy);
    this.#openUntil = shifted(this.#openUntil);
    this.#lineUntil = shifted(this.#lineUntil);
    this.#addressFrom = shifted(this.#addressFrom);
  }

  #open(from: number, mask: number, buffer: string): void {
    if (this.floor === never) this.floor = mask;
    if (this.contextFrom > from) this.contextFrom = startOfRun(buffer, from, this.#holdsWords) - 1;
  }

  /** What stands before a keyword in its run may be part of the token. */
  #openRun(from: number, { buffer, settled, at }: Reading): void {
    const mask = this.floor === never ? holdPoint(buffer, settled, at - 1, this.#table, this.#holdsWords) : this.floor;
    this.#open(from, mask, buffer);
  }

  #readKey(from: number, prefix: string): void {
    this.keyFrom = from;
    this.keyReader = new KeyBlockReader(from, prefix);
  }

  #takeOperator(buffer: string, at: number): void {
    if (at - 1 <= this.#operatorBy) {
      this.#open(at - 1, at, buffer);
      this.#valueBy = at + valueWithin;
    }
    if (at - 1 <= this.#lineOperatorBy) {
      this.#open(at - 1, at, buffer);
      this.#lineUntil = at + maxLine;
    }
  }

  #takeAddress(text: string, unit: number, at: number): void {
    this.#addressFrom = never;
    if (mayHoldPassword(text, unit)) this.#openUntil = Math.max(this.#openUntil, at + passwordWithin);
  }

  #takeRunEnd(unit: number, buffer: string, at: number): void {
    const operates = isOperator(unit);
    if (!this.inRun) {
      if (!operates && !opensRun(unit)) this.#valueBy = never;
      return;
    }
    if (this.#quote !== never && mayBeQuoted(unit) && at - this.#runFrom <= longestQuoted) return;
    this.#quote = never;
    if (at - 1 - this.#runFrom >= leastRun) this.#isRipe = true;
    if (this.#addressFrom !== never) this.#takeAddress(buffer.slice(this.#addressFrom, at - 1), unit, at);
    // An escaped line end is two characters, and ends a value like a line end.
    if (unit === 92) this.#openUntil = Math.max(this.#openUntil, at);
    this.inRun = false;
    if (!operates && !isOperator(buffer.charCodeAt(at - 2))) this.#valueBy = never;
  }
}
