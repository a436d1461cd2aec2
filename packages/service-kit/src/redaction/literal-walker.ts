import { foldUnit } from './canonical-text.ts';
import type { MaskList } from './mask-list.ts';
import type { PatternMatcher } from './pattern-matcher.ts';
import type { PatternSet } from './secret-matcher.ts';

/** Searches undecoded text for literal values: there, the text before a value cannot change how it is read. */
export class LiteralWalker {
  readonly #automaton: PatternMatcher;
  readonly #patterns: PatternSet['patterns'];
  readonly #masks: MaskList;
  #state = 0;
  /** Just after the unit that was read last. */
  #at = 0;

  constructor({ automaton, patterns }: PatternSet, masks: MaskList) {
    this.#automaton = automaton;
    this.#patterns = patterns;
    this.#masks = masks;
  }

  get isIdle(): boolean {
    return this.#state === 0;
  }

  get heldFrom(): number {
    return this.#state === 0 ? Number.POSITIVE_INFINITY : this.#at - this.#automaton.depth(this.#state);
  }

  take(unit: number, at: number): void {
    this.#at = at + 1;
    this.#state = this.#automaton.step(this.#state, foldUnit(unit));
    const match = this.#state === 0 ? 0 : this.#automaton.matchAt(this.#state);
    if (match !== 0) this.#masks.add(at + 1 - this.#patterns[this.#automaton.patternOf(match)]!.text.length, at + 1);
  }

  restart(): void {
    this.#state = 0;
  }
}
