import { foldUnit } from './canonical-text.ts';
import type { UnitSink } from './escape-decoder.ts';
import type { MaskList } from './mask-list.ts';
import type { PatternMatcher } from './pattern-matcher.ts';
import type { PatternSet } from './secret-matcher.ts';

/** Most texts contain no more than the beginning of a value. */
const firstSize = 8;

/** Searches one stream of canonical units for the patterns, and masks their places in the source. */
export class MatchWalker implements UnitSink {
  readonly #automaton: PatternMatcher;
  readonly #patterns: PatternSet['patterns'];
  readonly #masks: MaskList;
  #state = 0;
  /** The places of the last units: a ring buffer, larger than the depth of the state. */
  #froms = new Float64Array(firstSize);
  #tos = new Float64Array(firstSize);
  #behind = new Uint8Array(firstSize);
  #count = 0;
  /** How many of the next units are masked with the last match, which begins at `#maskFrom`. */
  #more = 0;
  #maskFrom = 0;

  constructor({ automaton, patterns }: PatternSet, masks: MaskList) {
    this.#automaton = automaton;
    this.#patterns = patterns;
    this.#masks = masks;
  }

  get isIdle(): boolean {
    return this.#state === 0 && this.#more === 0;
  }

  /** The place in the source of the first unit that may still be part of a match. */
  get heldFrom(): number {
    const from = this.#state === 0 ? Number.POSITIVE_INFINITY : this.#stateFrom();
    return this.#more === 0 ? from : Math.min(from, this.#maskFrom);
  }

  take(unit: number, from: number, to: number, isBehindEscape = false): void {
    const automaton = this.#automaton;
    const state = automaton.step(this.#state, foldUnit(unit));
    // Of units with which no match begins, only those that a match may follow are remembered.
    if (state === 0 && this.#state === 0 && this.#more === 0 && to - from === 1) return;
    this.#state = state;
    const at = ++this.#count & (this.#froms.length - 1);
    this.#froms[at] = from;
    this.#tos[at] = to;
    this.#behind[at] = isBehindEscape ? 1 : 0;
    if (this.#more > 0) this.#takeMore(to);
    if (state === 0) return;
    for (let match = automaton.matchAt(state); match !== 0; match = automaton.shorterMatch(match)) {
      if (this.#mask(automaton.patternOf(match), to)) break;
    }
    if (automaton.depth(state) + 2 > this.#froms.length) this.#grow();
  }

  /** The next unit does not follow the last one. */
  restart(at: number): void {
    this.#state = this.#more = 0;
    const index = ++this.#count & (this.#froms.length - 1);
    this.#froms[index] = this.#tos[index] = at;
  }

  /** Where a match may still begin: with the units that are held back or, without any, right after the last unit. */
  #stateFrom(): number {
    const depth = this.#automaton.heldDepth(this.#state);
    return depth === 0 ? this.#tos[this.#indexOf(1)]! : this.#fromOf(depth);
  }

  #fromOf(depth: number): number {
    return this.#froms[this.#indexOf(depth)]!;
  }

  #takeMore(to: number): void {
    this.#more--;
    this.#masks.add(this.#maskFrom, to);
  }

  #mask(index: number, to: number): boolean {
    const { text, isBehindEscape, skip, more, minimumSpan } = this.#patterns[index]!;
    const from = this.#fromOf(text.length - skip);
    if (to - from < minimumSpan || (isBehindEscape && !this.#isBehindEscape(text.length))) return false;
    this.#masks.add(from, to);
    if (more > this.#more) {
      this.#more = more;
      this.#maskFrom = from;
    }
    return true;
  }

  /** True when there is an escape right before the last `length` units. */
  #isBehindEscape(length: number): boolean {
    const [first, before] = [this.#indexOf(length), this.#indexOf(length + 1)];
    return (
      this.#behind[first] === 1 || (this.#tos[before] === this.#froms[first] && this.#tos[before]! - this.#froms[before]! > 1)
    );
  }

  #indexOf(depth: number): number {
    return (this.#count - depth + 1) & (this.#froms.length - 1);
  }

  #grow(): void {
    const size = this.#froms.length;
    const [froms, tos, behind] = [new Float64Array(size * 2), new Float64Array(size * 2), new Uint8Array(size * 2)];
    for (let count = this.#count - size + 1; count <= this.#count; count++) {
      froms[count & (size * 2 - 1)] = this.#froms[count & (size - 1)]!;
      tos[count & (size * 2 - 1)] = this.#tos[count & (size - 1)]!;
      behind[count & (size * 2 - 1)] = this.#behind[count & (size - 1)]!;
    }
    this.#froms = froms;
    this.#tos = tos;
    this.#behind = behind;
  }
}
