import { EscapeDecoder } from './escape-decoder.ts';
import type { MaskList } from './mask-list.ts';
import { MatchWalker } from './match-walker.ts';
import type { SecretMatcher } from './secret-matcher.ts';
import { beginsBigEndian, beginsLittleEndian } from './start-filter.ts';

/** One way to read bytes as text. */
class Reader {
  readonly #walker: MatchWalker;
  readonly #decoder: EscapeDecoder;

  constructor(matcher: SecretMatcher, masks: MaskList, areBytes: boolean) {
    this.#walker = new MatchWalker(matcher, masks);
    this.#decoder = new EscapeDecoder(this.#walker, areBytes);
  }

  get isIdle(): boolean {
    return this.#walker.isIdle && this.#decoder.isIdle;
  }

  get heldFrom(): number {
    return Math.min(this.#walker.heldFrom, this.#decoder.heldFrom);
  }

  begin(at: number): void {
    this.#decoder.reset();
    this.#walker.restart(at);
  }

  push(unit: number, from: number, to: number): void {
    this.#decoder.push(unit, from, to);
  }

  end(): void {
    this.#decoder.flush();
    this.begin(0);
  }
}

/**
 * The bytes of one alignment of a block, read as text: as UTF-8, and as UTF-16 of either byte order wherever two of them may
 * begin a value.
 */
export class ByteLane {
  readonly #matcher: SecretMatcher;
  readonly #masks: MaskList;
  readonly #bytes: Reader;
  /** Little and big endian, each at even and at odd offsets. */
  readonly #wide: Reader[] = [];
  #activeWide = 0;
  #count = 0;
  #last = 0;
  #lastFrom = 0;

  constructor(matcher: SecretMatcher, masks: MaskList) {
    this.#matcher = matcher;
    this.#masks = masks;
    this.#bytes = new Reader(matcher, masks, true);
  }

  get isIdle(): boolean {
    return this.#activeWide === 0 && this.#bytes.isIdle;
  }

  get heldFrom(): number {
    let held = this.#bytes.heldFrom;
    for (let index = 0; index < 4; index++) if (this.#isActive(index)) held = Math.min(held, this.#wide[index]!.heldFrom);
    return held;
  }

  begin(byte: number, from: number, to: number): void {
    this.#bytes.begin(from);
    this.#bytes.push(byte, from, to);
    this.#last = byte;
    this.#lastFrom = from;
  }

  take(byte: number, from: number, to: number): void {
    this.#bytes.push(byte, from, to);
    const pair = (this.#last << 8) | byte;
    const kinds = this.#matcher.starts.kinds[pair]!;
    if (kinds > 1 || this.#activeWide !== 0) {
      const odd = this.#count & 1;
      this.#takeWide(odd, (byte << 8) | this.#last, (kinds & beginsLittleEndian) !== 0, to);
      this.#takeWide(2 + odd, pair, (kinds & beginsBigEndian) !== 0, to);
    }
    this.#count++;
    this.#last = byte;
    this.#lastFrom = from;
  }

  end(): void {
    this.#bytes.end();
    for (let index = 0; index < 4; index++) if (this.#isActive(index)) this.#wide[index]!.end();
    this.#activeWide = 0;
  }

  #takeWide(index: number, unit: number, begins: boolean, to: number): void {
    if (!this.#isActive(index)) {
      if (!begins) return;
      (this.#wide[index] ??= new Reader(this.#matcher, this.#masks, false)).begin(this.#lastFrom);
      this.#activeWide |= 1 << index;
    }
    const reader = this.#wide[index]!;
    reader.push(unit, this.#lastFrom, to);
    if (reader.isIdle) this.#activeWide &= ~(1 << index);
  }

  #isActive(index: number): boolean {
    return ((this.#activeWide >> index) & 1) === 1;
  }
}
