import { KeyMarkup, skipped } from './key-markup.ts';
import { isHeaderStart, isHeaderWord, longestHeaderWord } from './key-headers.ts';
import { LinePrefix, longestPrefix } from './line-prefix.ts';
import { addTo, isJoin, isKeyUnit, isLine, isWord, leastLastLine, noRun } from './key-run.ts';

/** The most punctuation and spaces before a key and between its lines. */
const maxGap = 64;
/** The shortest key has 64 characters, and may be cut off. Anything much shorter is an example. */
const leastKey = 40;
/** At the end of the text, where the key may be cut off, fewer are enough. */
const leastCutKey = 8;
/** An example that repeats one word has fewer different characters. */
const leastVariety = 12;
/** The end line of a key is searched for this far after its last line. Without one, the text continues after that line. */
const endWithin = 512;

const head = /-----? ?BEGIN(?:[ A-Z0-9_+%]|-(?!-)){0,100}$/i;
const endLine = /-----? ?END[ +%_]$/i;
const longestEndLine = 12;
const longestHead = 120;

/** Between the lines of a key: line breaks, their escapes, quotes, and prefixes of quotations, diffs and comments. */
const gapSigns = ' \t\r\n"\'`,>|\\#*;&%';
const escapes = 'nrtu"\'';
const [newline, percent, plus, dash, backslash, backtick] = [10, 37, 43, 45, 92, 96];

/** Recognizes the beginning of a private key block by the words that end its head line. */
export const keyBlockStart = {
  words: [
    'private key-----',
    'private key block-----',
    'private key ----',
    'private+key-----',
    'private+key+block-----',
    'private%20key-----',
    'private%20key%20block-----',
    'private-lines:',
  ],

  /** True when those words, at `from`, are part of a head line. */
  isHead: (text: string, from: number): boolean =>
    text.charCodeAt(from + 7) === dash || head.test(text.slice(Math.max(0, from - longestHead), from)),

  /** The text before the head line on its line, such as a line number or a time. The lines of the key have the same prefix. */
  prefixOf(text: string, from: number): string {
    const before = text.slice(Math.max(0, from - longestHead - longestPrefix), from);
    return before.slice(before.lastIndexOf('\n') + 1, Math.max(0, head.exec(before)?.index ?? 0));
  },
};

/**
 * Reads what follows the head line of a private key, each unit once. It first decides whether that is a key, because code and
 * manuals quote head lines too, and then how far the key goes: to its end line, or to its last line when there is no end line.
 */
export class KeyBlockReader {
  /** `open`: undecided; `key`: a key up to `keyUntil` so far; `ended`: its end line begins there; `over`: other text begins there. */
  state: 'open' | 'no' | 'key' | 'ended' | 'over' = 'open';
  keyUntil: number;
  /** Just after the last unit that may belong to a key. */
  #readUntil: number;
  readonly #different = new Set<number>();
  #run = noRun();
  #length = 0;
  #gap = 0;
  #line = '';
  #inHeader = false;
  #isEscape = false;
  #percent = '';
  /** True while only a gap separates this place from the last line of the key. */
  #isNext = true;
  readonly #markup = new KeyMarkup();
  readonly #prefix: LinePrefix;
  /** The state at the beginning of the line. */
  #atLine = { length: 0, isNext: true };
  /** True when this is no key, unless what was read is the prefix of a line. */
  #isDoubtful = false;

  /** `prefix`: the text before the head line, which is also before each line of the key. */
  constructor(from: number, prefix = '') {
    this.keyUntil = this.#readUntil = from;
    this.#prefix = new LinePrefix(prefix);
  }

  /** Takes the unit before `at`. */
  take(unit: number, buffer: string, at: number): void {
    if (!this.#isDoubtful) this.#takeRaw(unit, buffer, at);
    if (this.#prefix.take(unit)) this.#passPrefix();
    else this.#doubt();
    if (unit === newline) this.#atLine = { length: this.#length, isNext: this.#isNext };
    if (this.state === 'key' && at - this.keyUntil > endWithin) this.state = 'over';
  }

  #doubt(): void {
    if (this.state === 'no') this.#isDoubtful = true;
    if (this.#isDoubtful) this.state = this.#prefix.isOpen ? 'open' : 'no';
  }

  /** Treats this place as the beginning of the line. */
  #passPrefix(): void {
    this.#isNext = this.#atLine.isNext;
    this.#run = noRun();
    this.#line = '';
    this.#gap = 0;
    this.#isDoubtful = this.#inHeader = this.#isEscape = false;
    if (this.state !== 'open' && this.state !== 'no') return;
    this.state = 'open';
    this.#length = this.#atLine.length;
    if (this.#length === 0) this.#different.clear();
  }

  #takeRaw(unit: number, buffer: string, at: number): void {
    if (this.#percent !== '') return this.#takePercent(unit, buffer, at);
    if (unit === percent) return void (this.#percent = '%');
    const read = this.#markup.take(unit);
    if (read !== skipped && (!this.#inHeader || this.#isHeaderEnd(read))) this.#takeUnit(read, buffer, at);
  }

  #takeUnit(unit: number, buffer: string, at: number): void {
    if (this.#isEscape && this.#takeEscaped(unit)) return;
    if (this.state === 'key' && isEndSpace(unit) && this.#takeEnd(buffer, at)) return;
    if (isKeyUnit(unit)) this.#takeKeyUnit(unit, at);
    else if (this.state === 'open') this.#takeGap(unit);
    else this.#takeBehind(unit, at);
  }

  #takePercent(unit: number, buffer: string, at: number): void {
    this.#percent += String.fromCharCode(unit);
    if (this.#percent.length < 3) return;
    const code = Number.parseInt(this.#percent.slice(1), 16);
    this.#percent = '';
    this.#takeRaw(Number.isNaN(code) || code === percent ? 32 : code, buffer, at);
  }

  /** A header ends with its line, or where the key begins when everything is on one line. */
  #isHeaderEnd(unit: number): boolean {
    if (isKeyUnit(unit)) addTo(this.#run, unit);
    else this.#run = noRun();
    this.#inHeader = unit !== newline && unit !== backslash && !isLine(this.#run);
    return !this.#inHeader;
  }

  /** Ends the text. */
  end(at: number): void {
    if (this.#isDoubtful) this.state = 'no';
    if (this.state === 'open') this.#decide();
    if (this.state === 'key' && this.#isNext && this.#run.length > 0) this.keyUntil = at;
  }

  #decide(): void {
    this.state = this.#length + this.#run.length >= leastCutKey && !isWord(this.#run) ? 'key' : 'no';
    if (this.state === 'key') this.keyUntil = this.#readUntil;
  }

  /** Adjusts the positions when that many units were dropped from the beginning of the buffer. */
  shift(by: number): void {
    this.keyUntil -= by;
    this.#readUntil -= by;
  }

  /** A line break may be escaped, more than once. */
  #takeEscaped(unit: number): boolean {
    if (unit === backslash) return true;
    this.#isEscape = false;
    if (unit === 110) this.#line = '';
    return escapes.includes(String.fromCharCode(unit));
  }

  #takeKeyUnit(unit: number, at: number): void {
    addTo(this.#run, unit);
    this.#gap = 0;
    if (this.state === 'open') {
      this.#readUntil = at;
      this.#addToLine(unit);
      this.#different.add(unit);
      if (!this.#isKey()) return;
      this.state = 'key';
    } else if (!isLine(this.#run)) return;
    this.keyUntil = at;
    this.#isNext = true;
  }

  #isKey(): boolean {
    if (this.#length + this.#run.length < leastKey || this.#different.size < leastVariety) return false;
    return this.#run.length >= leastLastLine && !isWord(this.#run);
  }

  #takeGap(unit: number): void {
    const run = this.#run;
    this.#run = noRun();
    if (this.#takeHeader(unit)) return;
    const isLineStart = this.#line === '';
    if (isWord(run)) this.state = 'no';
    else if (!isGap(unit) && !(unit === dash && isLineStart)) this.state = 'no';
    else if (++this.#gap > maxGap) this.state = 'no';
    this.#length += run.length;
    if (unit === dash && isLineStart) this.#line = '-';
    if (unit === newline) this.#line = '';
    this.#isEscape = unit === backslash;
  }

  /** The headers of an encrypted or PGP key are skipped line by line. */
  #takeHeader(unit: number): boolean {
    const line = this.#line.replace(/^-/, '') + String.fromCharCode(unit).toLowerCase();
    if (line.length === 1 || !isHeaderStart(line)) return false;
    this.#line = line;
    this.#inHeader = isHeaderWord(line);
    return true;
  }

  #addToLine(unit: number): void {
    if (unit === plus && this.#line === '') return;
    if (this.#line.length < longestHeaderWord) this.#line += String.fromCharCode(unit).toLowerCase();
  }

  #takeBehind(unit: number, at: number): void {
    const run = this.#run;
    this.#run = noRun();
    if (!isJoin(run)) {
      this.#isNext &&= run.length >= leastLastLine && !isWord(run);
      if (this.#isNext) this.keyUntil = at - 1;
    }
    if (!(isGap(unit) || unit === dash || isCloser(unit)) || unit === backtick) this.#isNext = false;
    this.#isEscape = unit === backslash;
  }

  #takeEnd(buffer: string, at: number): boolean {
    const end = endLine.exec(buffer.slice(Math.max(0, at - longestEndLine), at));
    if (end === null) return false;
    this.keyUntil = at - end[0].length;
    this.state = 'ended';
    return true;
  }
}

/** True for what closes an object, a list or a call around a line. */
const isCloser = (unit: number): boolean => ')];}'.includes(String.fromCharCode(unit));

const isEndSpace = (unit: number): boolean => unit === 32 || unit === 43 || unit === 37 || unit === 95;

const isGap = (unit: number): boolean => gapSigns.includes(String.fromCharCode(unit));
