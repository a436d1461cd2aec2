import { HeldSource } from './held-source.ts';
import type { Steps } from './pace.ts';
import { buildPatternMatcher, type PatternMatcher } from './pattern-matcher.ts';
import { minimumSecretLength } from './secret-patterns.ts';
import { invisible, unitClasses } from './unit-classes.ts';
import { isWhiteSpace } from './unit-kinds.ts';

const space = 32;
/** Longer white space separates what is around it: this bounds what is held back. */
const longestGap = 64;

/** Finds values that contain white space. In the text, any run of white space counts as one space. */
export type SpacedMatcher = {
  readonly automaton: PatternMatcher;
  /** The longest word of each value: a text without escapes that contains none of them contains none of the values. */
  readonly words: readonly string[];
};

/** Null when no value contains white space. */
export function* buildSpacedMatcher(values: Iterable<string>): Steps<SpacedMatcher | null> {
  const spaced = [...values]
    .map((value) => value.trim())
    .filter((value) => /\s/.test(value) && value.length >= minimumSecretLength);
  const folded = spaced.map((value) => value.replaceAll(/\s+/g, ' '));
  const patterns = [...new Set(folded.flatMap((value) => [value, value.normalize('NFC'), value.normalize('NFD')]))];
  if (patterns.length === 0) return null;
  return { automaton: yield* buildPatternMatcher(patterns, []), words: [...new Set(patterns.map(longestWord))] };
}

const longestWord = (pattern: string): string =>
  pattern.split(' ').reduce((longest, word) => (word.length > longest.length ? word : longest));

/** False for a text without escapes that contains none of the values. */
export const mayHoldSpaced = ({ words }: SpacedMatcher, text: string): boolean => words.some((word) => text.includes(word));

/** The shape of a stream redactor. It is not imported, because its file imports this one. */
type TextStream = { push(text: string): string; end(): string };

export function createSpacedStream({ automaton }: SpacedMatcher): TextStream {
  const source = new HeldSource();
  let walker = new SpacedWalker(automaton);
  return {
    push(text) {
      const from = source.end;
      source.append(text);
      for (let i = 0; i < text.length; i++) {
        const start = walker.take(text.charCodeAt(i), from + i);
        if (start !== null) source.masks.add(start, from + i + 1);
      }
      return source.release(Math.min(source.end, walker.heldFrom));
    },
    end() {
      const rest = source.release(source.end);
      source.reset();
      walker = new SpacedWalker(automaton);
      return rest;
    },
  };
}

class SpacedWalker {
  readonly #automaton: PatternMatcher;
  #state = 0;
  #gap = 0;
  /** The places of the units that the state represents; older ones are dropped from time to time. */
  #places: number[] = [];

  constructor(automaton: PatternMatcher) {
    this.#automaton = automaton;
  }

  get heldFrom(): number {
    return this.#state === 0 ? Number.POSITIVE_INFINITY : this.#places.at(-this.#automaton.depth(this.#state))!;
  }

  /** Where the value that ends with this unit begins. */
  take(unit: number, at: number): number | null {
    const isSpace = isWhiteSpace(unit);
    if (isSpace) {
      if (++this.#gap > longestGap) this.#state = 0;
      if (this.#gap > 1) return null;
    } else if (unitClasses[unit] === invisible) return null;
    else this.#gap = 0;
    return this.#step(isSpace ? space : unit, at);
  }

  #step(unit: number, at: number): number | null {
    const automaton = this.#automaton;
    this.#state = automaton.step(this.#state, unit);
    if (this.#state === 0) {
      if (this.#places.length > 0) this.#places = [];
      return null;
    }
    const depth = automaton.depth(this.#state);
    this.#places.push(at);
    if (this.#places.length > 2 * depth + 64) this.#places = this.#places.slice(-depth);
    const match = automaton.matchAt(this.#state);
    return match === 0 ? null : this.#places.at(-automaton.depth(match))!;
  }
}
