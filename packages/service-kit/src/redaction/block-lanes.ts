import { ByteLane } from './byte-lane.ts';
import { loneSpace, type UnitSink } from './escape-decoder.ts';
import type { MaskList } from './mask-list.ts';
import type { SecretMatcher } from './secret-matcher.ts';
import { hasBit } from './start-filter.ts';
import { base32Values, base64Values, hexValues } from './unit-classes.ts';

const hexLanes = 4;
const base32Lanes = 6;
const laneCount = 14;
/** After this many characters of a block, every lane has two whole bytes. */
const leastPassed = 8;

/**
 * Decodes runs of base64, hex and base32, at every possible alignment: each alignment is a lane. A lane stays idle until two of
 * its bytes may begin a value; only from there on are its bytes matched one by one.
 */
export class BlockLanes implements UnitSink {
  readonly #matcher: SecretMatcher;
  readonly #masks: MaskList;
  readonly #lanes: ByteLane[] = [];
  #active = 0;
  /** For each encoding, the last characters of the run as bits, and how many characters the run has. */
  #bits64 = 0;
  #count64 = 0;
  #bits16 = 0;
  #count16 = 0;
  #bits32 = 0;
  #count32 = 0;
  /** Where the last four characters begin. */
  #from0 = 0;
  #from1 = 0;
  #from2 = 0;
  #from3 = 0;
  /** Where the plain word at the beginning of the run ends: words are let out at once. */
  #wordTo = 0;
  #isWord = true;

  constructor(matcher: SecretMatcher, masks: MaskList) {
    this.#matcher = matcher;
    this.#masks = masks;
  }

  get isIdle(): boolean {
    return this.#count64 === 0;
  }

  take(unit: number, from: number, to: number): void {
    const value = unit < 128 ? base64Values[unit]! : 64;
    if (value === 64) {
      if (this.#count64 > 0 && unit !== loneSpace) this.end();
      return;
    }
    this.#shiftFrom(from);
    if (this.#isWord) this.#takeWord(unit, to);
    this.#take64(value, to);
    const digit = hexValues[unit]!;
    if (digit < 16) this.#take16(digit, to);
    else if (this.#count16 > 0) this.#end16();
    const value32 = base32Values[unit]!;
    if (value32 < 32) this.#take32(value32, to);
    else if (this.#count32 > 0) this.#end32();
  }

  /** Takes consecutive characters of a block. */
  takeRun(text: string, from: number, to: number, textAt: number): void {
    for (let i = from; i < to;) {
      if (this.#active === 0 && !this.#isWord && this.#count64 >= leastPassed) i = this.#passOver(text, i, to, textAt);
      if (i < to) this.take(text.charCodeAt(i), textAt + i, textAt + i + 1);
      i++;
    }
  }

  /** Skips to the first character that completes two bytes with which a value may begin. */
  #passOver(text: string, from: number, to: number, textAt: number): number {
    const { pairs } = this.#matcher.starts;
    let [bits64, bits16, bits32] = [this.#bits64, this.#bits16, this.#bits32];
    let [count16, count32] = [this.#count16, this.#count32];
    let i = from;
    for (; i < to; i++) {
      const unit = text.charCodeAt(i);
      const next64 = ((bits64 << 6) | base64Values[unit]!) & 0x3fffffff;
      if (hasBit(pairs, (next64 >> 4) & 0xffff) || hasBit(pairs, (next64 >> 2) & 0xffff) || hasBit(pairs, next64 & 0xffff)) break;
      const digit = hexValues[unit]!;
      const next16 = digit < 16 ? ((bits16 << 4) | digit) & 0xffff : 0;
      if (digit < 16 && count16 >= 3 && hasBit(pairs, next16)) break;
      const value32 = base32Values[unit]!;
      const next32 = value32 < 32 ? ((bits32 << 5) | value32) & 0x3fffffff : 0;
      if (value32 < 32 && count32 >= 3 && mayBegin32(pairs, next32)) break;
      bits64 = next64;
      bits16 = next16;
      bits32 = next32;
      count16 = digit < 16 ? count16 + 1 : 0;
      count32 = value32 < 32 ? count32 + 1 : 0;
    }
    [this.#bits64, this.#bits16, this.#bits32] = [bits64, bits16, bits32];
    [this.#count16, this.#count32] = [count16, count32];
    this.#count64 += i - from;
    for (let passed = Math.max(from, i - 4); passed < i; passed++) this.#shiftFrom(textAt + passed);
    return i;
  }

  #shiftFrom(from: number): void {
    this.#from3 = this.#from2;
    this.#from2 = this.#from1;
    this.#from1 = this.#from0;
    this.#from0 = from;
  }

  /** A word is letters, of which only the first may be a capital. */
  #takeWord(unit: number, to: number): void {
    this.#isWord = (unit >= 97 && unit <= 122) || (this.#count64 === 0 && unit >= 65 && unit <= 90);
    if (this.#isWord) this.#wordTo = to;
  }

  /** Ends the run. */
  end(): void {
    this.#isWord = true;
    this.#wordTo = 0;
    this.#bits64 = this.#count64 = 0;
    this.#endLanes(0, hexLanes);
    this.#end16();
    this.#end32();
  }

  get heldFrom(): number {
    let held = Number.POSITIVE_INFINITY;
    if (this.#count64 === 0) return held;
    for (let lane = 0; lane < laneCount; lane++) if (this.#isActive(lane)) held = Math.min(held, this.#lanes[lane]!.heldFrom);
    return Math.min(held, Math.max(this.#wordTo, this.#heldByte()));
  }

  #take64(value: number, to: number): void {
    const bits = ((this.#bits64 << 6) | value) & 0x3fffffff;
    this.#bits64 = bits;
    const count = this.#count64++;
    if (count < 2) return;
    const { pairs } = this.#matcher.starts;
    if (this.#isActive((count - 1) & 3) || hasBit(pairs, (bits >> 4) & 0xffff))
      this.#feed((count - 1) & 3, bits >> 4, this.#from2, this.#from1, to);
    if (this.#isActive((count - 2) & 3) || hasBit(pairs, (bits >> 2) & 0xffff))
      this.#feed((count - 2) & 3, bits >> 2, this.#from2, this.#from0, to);
    if (this.#isActive((count - 3) & 3) || hasBit(pairs, bits & 0xffff))
      this.#feed((count - 3) & 3, bits, this.#from1, this.#from0, to);
  }

  #take16(digit: number, to: number): void {
    this.#bits16 = ((this.#bits16 << 4) | digit) & 0xffff;
    const lane = hexLanes + (++this.#count16 & 1);
    if (this.#count16 < 4) return;
    if (this.#isActive(lane) || hasBit(this.#matcher.starts.pairs, this.#bits16))
      this.#feed(lane, this.#bits16, this.#from3, this.#from1, to);
  }

  #take32(value: number, to: number): void {
    this.#bits32 = ((this.#bits32 << 5) | value) & 0x3fffffff;
    const count = this.#count32++;
    if (count < 3) return;
    this.#take32At(count - 1, 2, this.#from2, this.#from1, to);
    this.#take32At(count - 3, 4, this.#from3, this.#from1, to);
    this.#take32At(count - 4, 1, this.#from2, this.#from0, to);
    this.#take32At(count - 6, 3, this.#from2, this.#from1, to);
    this.#take32At(count - 7, 0, this.#from2, this.#from0, to);
  }

  #take32At(groupAt: number, shift: number, fromBefore: number, from: number, to: number): void {
    const lane = base32Lanes + (groupAt & 7);
    const bits = this.#bits32 >> shift;
    if (this.#isActive(lane) || hasBit(this.#matcher.starts.pairs, bits & 0xffff)) this.#feed(lane, bits, fromBefore, from, to);
  }

  #isActive(lane: number): boolean {
    return ((this.#active >> lane) & 1) === 1;
  }

  /** Feeds a byte to a lane. The next higher byte of `bits` is the one before it. */
  #feed(index: number, bits: number, fromBefore: number, from: number, to: number): void {
    const lane = (this.#lanes[index] ??= new ByteLane(this.#matcher, this.#masks));
    if (!this.#isActive(index)) {
      this.#active |= 1 << index;
      lane.begin((bits >> 8) & 255, Math.max(this.#wordTo, fromBefore), from);
    }
    lane.take(bits & 255, Math.max(this.#wordTo, from), to);
    if (lane.isIdle) this.#active &= ~(1 << index);
  }

  #end16(): void {
    this.#bits16 = this.#count16 = 0;
    this.#endLanes(hexLanes, base32Lanes);
  }

  #end32(): void {
    this.#bits32 = this.#count32 = 0;
    this.#endLanes(base32Lanes, laneCount);
  }

  #endLanes(first: number, end: number): void {
    for (let index = first; index < end && this.#active >> index !== 0; index++) {
      if (!this.#isActive(index)) continue;
      this.#lanes[index]!.end();
      this.#active &= ~(1 << index);
    }
  }

  /** Where the last byte begins, if a value may begin with it and its second byte has not come yet. */
  #heldByte(): number {
    const { firstBits } = this.#matcher.starts;
    const isHeld = (back: number): boolean =>
      this.#count64 > back &&
      (anyFirst(firstBits, this.#bits64, waiting64[back]!) ||
        (this.#count16 > back && anyFirst(firstBits, this.#bits16, waiting16[back]!)) ||
        (this.#count32 > back && anyFirst(firstBits, this.#bits32, waiting32[back]!)));
    if (isHeld(2)) return this.#from2;
    if (isHeld(1)) return this.#from1;
    return isHeld(0) ? this.#from0 : Number.POSITIVE_INFINITY;
  }
}

/** Where among the last bits of a run the byte is that began that many characters ago, and how many of its bits have come. */
type Waiting = readonly (readonly [shift: number, count: number])[];
const waiting64: readonly Waiting[] = [[[0, 6], [2, 8], [0, 8]], [[4, 8], [6, 8]], []]; // prettier-ignore
const waiting16: readonly Waiting[] = [[[0, 4]], [[0, 8]], [[4, 8]]]; // prettier-ignore
const waiting32: readonly Waiting[] = [
  [[0, 5], [0, 6], [0, 7], [1, 8], [0, 8]], // prettier-ignore
  [[2, 8], [4, 8], [3, 8], [6, 8], [5, 8]], // prettier-ignore
  [[7, 8]],
];

const mayBegin32 = (pairs: Uint32Array, bits: number): boolean =>
  hasBit(pairs, (bits >> 2) & 0xffff) ||
  hasBit(pairs, (bits >> 4) & 0xffff) ||
  hasBit(pairs, (bits >> 1) & 0xffff) ||
  hasBit(pairs, (bits >> 3) & 0xffff) ||
  hasBit(pairs, bits & 0xffff);

const anyFirst = (firstBits: Uint8Array, bits: number, waiting: Waiting): boolean =>
  waiting.some(([shift, count]) => firstBits[(1 << count) | ((bits >> shift) & ((1 << count) - 1))] === 1);
