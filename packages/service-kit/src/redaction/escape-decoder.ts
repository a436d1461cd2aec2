import {
  beginEscape,
  endedBefore,
  goesOn,
  isFresh,
  noEscape,
  isWhole,
  newEscape,
  readEscape,
  standsForByte,
  type Escape,
} from './escape-syntax.ts';
import { firstHalfOfTags, invisible, lineBreak, opener, unitClasses } from './unit-classes.ts';

/** Takes canonical units, each with its place in the source. */
export type UnitSink = {
  /** `isBehindEscape`: an escape was dropped right before it. */
  take(unit: number, from: number, to: number, isBehindEscape: boolean): void;
};

/** The greatest depth of nested escapes. */
const maxDepth = 8;
/** How many meaningless characters may follow each other within a value: this bounds what is held back. */
const maxMeaningless = 64;
/** How many backslashes may precede a character: three layers of JSON write seven. */
const maxBackslashes = 8;
const capacity = 256;
const noUnits = new Uint16Array(0);
const noPlaces = new Float64Array(0);
const backslash = 92;
/** The lead bytes of multi-byte characters in UTF-8. */
const firstLead = 0xc2;
const lastLead = 0xf4;
const separator = 0;
/** A space that does not end a block of base64. */
export const loneSpace = 0xa0;

/**
 * Decodes every escape of a text in one pass, however deeply they are nested: a decoded character is read as if it had been
 * written literally, so it may complete the escape around it. Backslashes, line ends with the indentation after them, and
 * invisible characters are dropped. Two texts with the same meaning are equal in this form.
 */
export class EscapeDecoder {
  readonly #sink: UnitSink;
  readonly #areBytes: boolean;
  /** Units that may still become part of an escape. Allocated with the first of them: most texts have none. */
  #units = noUnits;
  #froms = noPlaces;
  #tos = noPlaces;
  #size = 0;
  #open: Escape[] = [];
  #depth = 0;
  #meaningless = 0;
  /** How much white space was read since the line end; -1 after anything else. */
  #indentation = -1;
  /** The place of an indentation's only space. */
  #space = -1;
  #isBehindEscape = false;
  /** True when the next unit is the second half of an invisible character. */
  #isInTag = false;

  /** `areBytes`: the units are bytes of UTF-8. */
  constructor(sink: UnitSink, areBytes = false) {
    this.#sink = sink;
    this.#areBytes = areBytes;
  }

  get isIdle(): boolean {
    return this.#depth === 0 && this.#space === -1;
  }

  /** True when an ordinary unit would go to the sink unchanged. */
  get isClear(): boolean {
    return this.#depth === 0 && this.#meaningless === 0 && this.#indentation === -1 && !this.#isInTag;
  }

  /** The place in the source of the first undecided unit. */
  get heldFrom(): number {
    const space = this.#space === -1 ? Number.POSITIVE_INFINITY : this.#space;
    return this.#depth === 0 ? space : Math.min(space, this.#froms[0]!);
  }

  push(unit: number, from: number, to: number): void {
    this.#take(unit, from, to, 0, this.#areBytes);
  }

  #take(unit: number, from: number, to: number, layer: number, isByte: boolean): void {
    const kind = this.#isInTag && (unit & 0xfc00) === 0xdc00 ? invisible : unitClasses[unit]!;
    this.#isInTag = unit === firstHalfOfTags;
    const begins = kind === opener || (isByte && unit >= firstLead && unit <= lastLead);
    const escape = this.#depth === 0 ? null : this.#open[this.#depth - 1]!;
    if ((kind === lineBreak || kind === invisible) && !(escape !== null && isByte && this.#isAwaited(escape, unit))) {
      return this.#leaveOut(kind === lineBreak, to, layer > 0);
    }
    if (escape === null) {
      if (begins) this.#begin(unit, from, to, layer);
      else this.#emit(unit, from, to);
    } else if (!begins) this.#goOn(escape, unit, from, to, layer, isByte);
    else if (unit === backslash && this.#isDoubled(escape, layer)) this.#addBackslash(escape, to);
    else this.#nest(unit, from, to, layer);
  }

  /** The soft hyphen has the same code as a continuation byte of UTF-8. */
  #isAwaited(escape: Escape, unit: number): boolean {
    return unit === 0xad && this.#units[escape.start]! >= firstLead;
  }

  /** A backslash that is nested less deeply than the one before it begins an escape of its own, which is read first. */
  #isDoubled(escape: Escape, layer: number): boolean {
    return isFresh(escape) && this.#units[escape.start] === backslash && layer >= escape.layer;
  }

  /** Ends the text: an open escape is none, unless it is complete and only waited for one that began within it. */
  flush(): void {
    const size = this.#size;
    const whole = this.#depth < 2 ? null : this.#open.slice(0, this.#depth).filter(isWhole);
    this.#size = this.#depth = 0;
    for (let at = 0; at < size; at++) {
      const escape = whole?.find(({ start }) => start === at);
      if (escape !== undefined) {
        at += escape.digits;
        const { value } = escape;
        const isLeftOut = unitClasses[value] === invisible || unitClasses[value] === lineBreak;
        if (!isLeftOut) this.#emit(value, this.#froms[escape.start]!, this.#tos[at]!);
        continue;
      }
      const unit = this.#units[at]!;
      if (unit !== backslash && unitClasses[unit] !== invisible) this.#emit(unit, this.#froms[at]!, this.#tos[at]!);
    }
  }

  reset(): void {
    this.#size = this.#depth = this.#meaningless = 0;
    this.#indentation = this.#space = -1;
    this.#isBehindEscape = this.#isInTag = false;
  }

  #begin(unit: number, from: number, to: number, layer: number): void {
    if (this.#units.length === 0) this.#makeRoom();
    if (this.#depth === 0) this.#meaningless = 0; // whatever was skipped before
    beginEscape(this.#open[this.#depth++]!, this.#size, layer);
    this.#append(unit, from, to);
  }

  #makeRoom(): void {
    this.#units = new Uint16Array(capacity);
    this.#froms = new Float64Array(capacity);
    this.#tos = new Float64Array(capacity);
    this.#open = Array.from({ length: maxDepth }, newEscape);
  }

  #append(unit: number, from: number, to: number): void {
    this.#units[this.#size] = unit;
    this.#froms[this.#size] = from;
    this.#tos[this.#size++] = to;
  }

  #nest(unit: number, from: number, to: number, layer: number): void {
    if (this.#depth === maxDepth) this.flush();
    this.#begin(unit, from, to, layer);
  }

  #addBackslash(escape: Escape, to: number): void {
    this.#froms[escape.start] = Math.max(this.#froms[escape.start]!, to - maxBackslashes);
    this.#countMeaningless(to);
  }

  #goOn(escape: Escape, unit: number, from: number, to: number, layer: number, isByte: boolean): void {
    this.#append(unit, from, to);
    // Parts of it are escapes themselves: the result is one layer deeper than the deepest of them.
    escape.layer = Math.max(escape.layer, layer);
    const { start } = escape;
    const code = readEscape(escape, this.#units[start]!, unit);
    if (code === goesOn) return;
    if (code === noEscape) return this.flush();
    this.#size = start;
    this.#depth--;
    const { value, digits, layer: outer } = escape;
    const maybeByte = standsForByte(escape);
    if (code !== endedBefore) return this.#pushCode(code, this.#froms[start]!, to, outer + 1, maybeByte);
    this.#pushCode(value, this.#froms[start]!, this.#tos[start + digits]!, outer + 1, maybeByte);
    this.#take(unit, from, to, layer, isByte);
  }

  #pushCode(code: number, from: number, to: number, layer: number, isByte: boolean): void {
    if (code < 0x10000) return this.#take(code, from, to, layer, isByte);
    this.#take(0xd7c0 + (code >> 10), from, to, layer, isByte);
    this.#take(0xdc00 + (code & 0x3ff), from, to, layer, isByte);
  }

  #leaveOut(isLineBreak: boolean, to: number, isEscape: boolean): void {
    if (isEscape) this.#isBehindEscape = true;
    if (isLineBreak && this.#depth === 0) {
      this.#emitSpace();
      this.#indentation = 0;
    }
    this.#countMeaningless(to);
  }

  #countMeaningless(to: number): void {
    if (++this.#meaningless <= maxMeaningless) return;
    this.flush();
    this.#indentation = this.#space = -1;
    this.#meaningless = 0;
    this.#isBehindEscape = false;
    this.#sink.take(separator, to, to, false);
  }

  #emit(unit: number, from: number, to: number): void {
    if (this.#indentation >= 0 && this.#isIndentation(unit, from, to)) return;
    this.#meaningless = 0;
    this.#sink.take(unit, from, to, this.#isBehindEscape);
    this.#isBehindEscape = false;
  }

  /** A single space at the beginning of a line may belong to a value; more than one, or a tab, is indentation. */
  #isIndentation(unit: number, from: number, to: number): boolean {
    if (unit === 32 || unit === 9) {
      this.#space = unit === 32 && this.#indentation++ === 0 ? from : -1;
      this.#countMeaningless(to);
      return true;
    }
    this.#indentation = -1;
    this.#emitSpace();
    return false;
  }

  #emitSpace(): void {
    if (this.#space !== -1) this.#sink.take(loneSpace, this.#space, this.#space + 1, false);
    this.#space = -1;
  }
}
