import type { KeyBlockReader } from './key-blocks.ts';
import { endOfRun, holdPoint, joinsMail, quote, startOfWord } from './held-text.ts';
import { findIn, type KeywordTable } from './keyword-table.ts';
import { maskPiece } from './mask-piece.ts';
import { contextLength, OpenPlace } from './open-place.ts';
import { toPlaceholder } from './placeholder.ts';
import type { StreamRedactor } from './stream-redactor.ts';

/** The most text that is held back: a place that is still open then is checked, and masked to its end if a rule matches up to there. */
const maxHeld = 4096;

/**
 * Finds secrets of a known form in a stream, by rules. One pass over the text searches for the rules' keywords. Only the
 * place that a keyword opens is held back, and the rules of that keyword are applied when it ends. Where such a place
 * begins and ends depends on the text alone, so the result is the same however the stream is cut.
 */
export const createTextDetector = (table: KeywordTable, holdsWords: boolean): StreamRedactor =>
  new TextDetector(table, holdsWords);

class TextDetector implements StreamRedactor {
  readonly #table: KeywordTable;
  readonly #holdsWords: boolean;
  readonly #place: OpenPlace;
  /** Some text that was let out already, then the text that is held back. */
  #buffer = '';
  #released = 0;
  /** Text before this is final, however the text is cut. */
  #settled = 0;
  #at = 0;
  #state = 0;
  #out = '';
  #swallowing: 'run' | KeyBlockReader | null = null;

  constructor(table: KeywordTable, holdsWords: boolean) {
    this.#table = table;
    this.#holdsWords = holdsWords;
    this.#place = new OpenPlace(table, holdsWords);
  }

  push(text: string): string {
    this.#buffer = this.#buffer === '' ? text : this.#buffer + text;
    this.#run();
    if (this.#swallowing === null) {
      this.#letOut(Math.max(this.#released, this.#place.floor === -1 ? this.#holdPoint() : this.#place.floor));
    }
    this.#dropOld();
    return this.#take();
  }

  end(): string {
    this.#endKeys();
    if (this.#swallowing === null) {
      if (this.#place.floor === -1) this.#letOut(this.#buffer.length);
      else this.#close(this.#buffer.length, false);
    }
    return this.#take();
  }

  #run(): void {
    while (this.#at < this.#buffer.length) {
      if (this.#swallowing === 'run') this.#swallowRun();
      else if (this.#swallowing !== null) this.#swallowKey(this.#swallowing);
      else if (this.#place.floor === -1 && this.#place.seen.size === 0) this.#skipQuiet();
      else this.#stepOpen();
    }
  }

  /** Skips text in which nothing is open: only the state is updated. */
  #skipQuiet(): void {
    const { next, classes, width, firstHit } = this.#table;
    const buffer = this.#buffer;
    const end = buffer.length;
    let current = this.#state;
    let i = this.#at;
    while (i < end) {
      const unit = buffer.charCodeAt(i++);
      current = next[current * width + classes[unit]!]!;
      if (current >= firstHit) break;
    }
    this.#at = i;
    this.#state = current;
    if (current < firstHit) return;
    this.#takeHit();
    this.#place.takeUnit(buffer.charCodeAt(i - 1), buffer, i);
  }

  #stepOpen(): void {
    const { next, classes, width, firstHit } = this.#table;
    const place = this.#place;
    const unit = this.#buffer.charCodeAt(this.#at++);
    const at = this.#at;
    this.#state = next[this.#state * width + classes[unit]!]!;
    if (this.#state >= firstHit) this.#takeHit();
    place.takeUnit(unit, this.#buffer, at);
    if (place.keyReader !== null && at > place.keyFrom) this.#lookAtKey(place.keyReader, unit);
    const { floor } = place;
    if (floor !== -1 && !place.isOpen(this.#at))
      this.#close(this.#mayBegin(unit) ? Math.max(floor, this.#at - 1) : this.#at, false);
    else if (floor !== -1 && this.#at - floor >= maxHeld) this.#cut();
    else if (floor === -1 && place.seen.size > 0 && !place.isArmed(this.#at)) place.forget();
  }

  /** The character that ends a place may begin another. */
  #mayBegin(unit: number): boolean {
    return joinsMail(unit, this.#holdsWords) || (this.#holdsWords && unit === quote);
  }

  #takeHit(): void {
    const reading = { buffer: this.#buffer, settled: this.#settled, at: this.#at };
    for (const index of this.#table.hits(this.#state)) this.#place.takeKeyword(index, this.#table.keywords[index]!, reading);
  }

  /** Lets out the text up to `until`, with the places masked that the rules of the keywords seen there find. */
  #close(until: number, isCut: boolean): void {
    let isOngoing = false;
    if (this.#place.floor !== -1 && this.#place.isRipe(this.#at)) {
      const { masked, reachesEnd } = this.#mask(until, isCut);
      isOngoing = isCut && reachesEnd;
      this.#out += this.#buffer.slice(this.#released, this.#place.floor) + masked;
    } else this.#out += this.#buffer.slice(this.#released, until);
    this.#released = this.#settled = until;
    this.#place.settle(isCut);
    if (isOngoing) this.#swallowing = 'run';
    if (!isCut && !this.#place.isArmed(this.#at)) this.#place.forget();
  }

  #mask(until: number, isCut: boolean): ReturnType<typeof maskPiece> {
    const { floor, contextFrom } = this.#place;
    const from = Math.max(0, floor - this.#place.reach, Math.min(contextFrom, floor));
    const rules = this.#rulesSeen(isCut);
    return maskPiece((text) => findIn(this.#table, rules, text), {
      text: this.#buffer.slice(from, this.#at),
      from: floor - from,
      until: until - from,
    });
  }

  #rulesSeen(isCut: boolean): Set<number> {
    // The value of an assignment ends with its run and is short, so it is not checked in a cut place.
    const counted = [...this.#place.seen].filter((index) => !isCut || this.#table.keywords[index]!.opening !== 'assignment');
    return new Set(counted.flatMap((index) => this.#table.keywords[index]!.rules));
  }

  /**
   * A place that does not end is cut before the current word and continues there. Within a run of that length, what a rule
   * matches so far is masked, and the rest of the run with it.
   */
  #cut(): void {
    const { inRun: wasInRun, keyReader, keyFrom } = this.#place;
    if (keyReader !== null) return this.#cutBeforeKey(keyReader, keyFrom);
    const start = startOfWord(this.#buffer, this.#at);
    if (start > this.#place.floor) return this.#goOnFrom(start);
    this.#close(this.#at, true);
    if (this.#swallowing !== null || !wasInRun) return this.#place.forget();
    this.#place.floor = this.#place.contextFrom = this.#at;
    this.#place.beginRun(this.#at);
  }

  #goOnFrom(start: number): void {
    const { floor } = this.#place;
    const shown = this.#place.isRipe(this.#at) ? this.#mask(start, false).masked : this.#buffer.slice(floor, start);
    this.#out += this.#buffer.slice(this.#released, floor) + shown;
    this.#released = this.#settled = start;
    this.#place.carry(start);
  }

  /** Keeps open what may be the beginning of a key. */
  #cutBeforeKey(reader: KeyBlockReader, keyFrom: number): void {
    this.#close(keyFrom, false);
    this.#place.floor = this.#place.keyFrom = keyFrom;
    this.#place.keyReader = reader;
  }

  #lookAtKey(reader: KeyBlockReader, unit: number): void {
    reader.take(unit, this.#buffer, this.#at);
    if (reader.state === 'key') this.#beginKey(reader);
    else if (reader.state === 'no') this.#place.endKey();
  }

  #beginKey(reader: KeyBlockReader): void {
    this.#close(this.#place.keyFrom, false);
    this.#out += toPlaceholder('private-key');
    this.#place.forget();
    this.#swallowing = reader;
    this.#released = this.#settled = reader.keyUntil;
  }

  #swallowKey(reader: KeyBlockReader): void {
    while (this.#at < this.#buffer.length && reader.state === 'key') {
      this.#at++;
      reader.take(this.#buffer.charCodeAt(this.#at - 1), this.#buffer, this.#at);
    }
    this.#released = this.#settled = reader.keyUntil;
    if (reader.state !== 'key') this.#goOn(reader.keyUntil);
  }

  #swallowRun(): void {
    const end = endOfRun(this.#buffer, this.#at);
    if (end !== -1) return this.#goOn(end);
    this.#at = this.#released = this.#buffer.length;
  }

  /** Continues after something that was masked to its end. */
  #goOn(from: number): void {
    // Rules see the mask before the text that follows it, as they would in the masked text.
    const mask = toPlaceholder('private-key');
    this.#buffer = mask + this.#buffer.slice(from);
    this.#at = this.#released = this.#settled = mask.length;
    this.#swallowing = null;
    this.#place.inRun = false;
    this.#state = 0;
  }

  /** Ends the text: a key that was cut off ends here, and what follows the last line of a key is other text. */
  #endKeys(): void {
    for (;;) {
      const reader = this.#place.keyReader;
      reader?.end(this.#at);
      if (reader?.state === 'key') this.#beginKey(reader);
      else this.#place.endKey();
      if (this.#swallowing === null || this.#swallowing === 'run') return;
      this.#swallowing.end(this.#at);
      this.#goOn(this.#swallowing.keyUntil);
      this.#run();
    }
  }

  #holdPoint(): number {
    return holdPoint(this.#buffer, this.#settled, this.#buffer.length, this.#table, this.#holdsWords);
  }

  #letOut(until: number): void {
    this.#out += this.#buffer.slice(this.#released, until);
    this.#released = until;
  }

  #take(): string {
    const taken = this.#out;
    this.#out = '';
    return taken;
  }

  #dropOld(): void {
    const by = this.#released - this.#place.reach;
    if (by < contextLength * 4) return;
    this.#buffer = this.#buffer.slice(by);
    this.#released -= by;
    this.#settled = Math.max(0, this.#settled - by);
    this.#at -= by;
    this.#place.shift(by);
    if (this.#swallowing !== null && this.#swallowing !== 'run') this.#swallowing.shift(by);
  }
}
