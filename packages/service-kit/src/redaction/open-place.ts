import { KeyBlockReader, keyBlockStart } from './key-blocks.ts';
import { goesOn, holdPoint, isRun, joinsMail, longestQuotedPart, opensRun, quote, startOfRun } from './held-text.ts';
import type { Keyword, KeywordTable } from './keyword-table.ts';
import { isQuote, mayBeQuoted, mayHoldPassword } from './value-ends.ts';
import { isNameUnit, isNumberUnit, isOperator, isWordUnit } from './unit-kinds.ts';

/** How far after the name of an assignment the operator may be, and how far after the operator the value. */
const operatorWithin = 26;
const valueWithin = 8;
const lineOperatorWithin = 8;
const spanLength = 2048;
/** How far a password may continue after the first character that belongs to no run. */
const passwordWithin = 64;
const maxLine = 4000;
/** A shorter run or value is no secret. */
const leastRun = 4;
/** How much of the text that was let out is kept as context for what follows. */
export const contextLength = 256;
/** The longest quoted value. */
const longestQuoted = 200;
const never = -1;

/** The buffered part of a text, up to where it is settled however the text is cut, and where reading has got to. */
type Reading = { buffer: string; settled: number; at: number };

/**
 * The place in a text that a keyword has opened: which keywords were seen there, where masks may begin, and what keeps it
 * open. All positions refer to the detector's buffer; -1 means none.
 */
export class OpenPlace {
  readonly seen = new Set<number>();
  /** Masks begin here or later; -1 while nothing is open. */
  floor = never;
  /** Rules see the text from here on. */
  contextFrom = Number.MAX_SAFE_INTEGER;
  /** But at most this far before `floor`. */
  reach = contextLength;
  inRun = false;
  /** Where the head line of a key ended, and the reader that continues from there. */
  keyFrom = never;
  keyReader: KeyBlockReader | null = null;
  readonly #table: KeywordTable;
  readonly #holdsWords: boolean;
  #runFrom = 0;
  /** Letters of any script continue the run. */
  #isMail = false;
  /** The quote before a value: until it is closed, list signs and brackets are part of the value. */
  #quote = never;
  #inNumber = false;
  #numberFrom = 0;
  #operatorBy = never;
  #lineOperatorBy = never;
  #valueBy = never;
  #openUntil = never;
  #lineUntil = never;
  /** The place after `://`, in its run. */
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

  /** True when a name was seen and its operator may follow. */
  isArmed(at: number): boolean {
    return at <= this.#operatorBy || at <= this.#lineOperatorBy;
  }

  /** True when the place is long enough to apply the rules. */
  isRipe(at: number): boolean {
    if (this.#isRipe || this.#lineUntil !== never || this.#openUntil !== never) return true;
    return (this.inRun && at - this.#runFrom >= leastRun) || (this.#inNumber && at - this.#numberFrom >= leastRun);
  }

  /** Takes a keyword that ended just before `at`. */
  takeKeyword(index: number, { word, opening, isBound }: Keyword, reading: Reading): void {
    const { buffer, at } = reading;
    const from = at - word.length;
    if (isBound && from > 0 && isWordUnit(buffer.charCodeAt(from - 1))) return;
    if (this.seen.size === 0) this.contextFrom = startOfRun(buffer, from, this.#holdsWords) - 1;
    this.seen.add(index);
    switch (opening) {
      case 'address':
      case 'mail':
      case 'token':
      case 'assigned-token':
        if (opening === 'address') this.#addressFrom = at;
        this.#openRun(from, reading);
        if (opening === 'assigned-token') this.contextFrom = Math.min(this.contextFrom, from - contextLength / 2);
        if (!this.inRun) this.beginRun(startOfRun(buffer, from, this.#holdsWords));
        if (opening === 'address' || opening === 'mail') this.#isMail = opening === 'mail';
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

  /** Takes the unit just before `at`, of a place that is open or may soon be. */
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
      // Digits may occur within a word, and a keyword may follow in it: all of it is one place.
      if (!this.inRun && joinsMail(unit, this.#holdsWords)) this.beginRun(at - 1, this.#holdsWords);
    }
    if (this.inRun && (this.#isMail ? joinsMail : goesOn)(unit, this.#holdsWords)) return;
    if (!isRun(unit)) this.#takeRunEnd(unit, buffer, at);
    else if (at - 1 <= this.#valueBy && !operates) this.#beginValue(buffer, at - 1);
  }

  /** The text after the head line turned out to be no key. */
  endKey(): void {
    this.keyFrom = never;
    this.keyReader = null;
  }

  beginRun(from: number, isMail = false): void {
    this.inRun = true;
    this.#runFrom = from;
    this.#isMail = isMail;
  }

  #beginValue(buffer: string, from: number): void {
    this.beginRun(from);
    const before = buffer.charCodeAt(from - 1);
    this.#quote = isQuote(before) ? before : never;
  }

  /** The rules were applied up to `from`, and the place stays open: what they still need is kept as context. */
  carry(from: number): void {
    const needed = this.#lineUntil !== never ? maxLine : from <= this.#openUntil ? spanLength : 0;
    this.contextFrom = Math.max(this.floor - this.reach, from - needed - contextLength);
    this.reach = from - this.contextFrom;
    this.floor = from;
    this.#isRipe = false;
  }

  /** The rules were applied, and the place is closed. */
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

  /** Adjusts the positions when that many units were dropped from the beginning of the buffer. */
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

  /** The text before a keyword in its run may be part of the token. */
  #openRun(from: number, { buffer, settled, at }: Reading): void {
    const mask = this.floor === never ? holdPoint(buffer, settled, at - 1, this.#table, this.#holdsWords) : this.floor;
    this.#open(from, mask, buffer);
    // A quoted part of a mail address continues after a secret that was found in it.
    if (this.#holdsWords && buffer.charCodeAt(this.floor) === quote) {
      this.#openUntil = Math.max(this.#openUntil, this.floor + longestQuotedPart);
    }
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
      if (!operates && !opensRun(unit)) this.#expectNoValue(at);
      return;
    }
    if (this.#quote !== never && mayBeQuoted(unit) && at - this.#runFrom <= longestQuoted) return;
    this.#quote = never;
    if (at - 1 - this.#runFrom >= leastRun) this.#isRipe = true;
    if (this.#addressFrom !== never) this.#takeAddress(buffer.slice(this.#addressFrom, at - 1), unit, at);
    // An escaped line end has two characters and ends a value, as a plain one does.
    if (unit === 92) this.#openUntil = Math.max(this.#openUntil, at);
    this.inRun = false;
    if (!operates && !isOperator(buffer.charCodeAt(at - 2))) this.#expectNoValue(at);
  }

  /** The unit that ends a run may end a keyword, too, whose value follows: `key: Bearer …`. */
  #expectNoValue(at: number): void {
    if (this.#valueBy !== at + valueWithin) this.#valueBy = never;
  }
}
