import type { PatternMatcher } from './pattern-matcher.ts';
import { placeholder } from './placeholder.ts';

export type StreamRedactor = {
  /** Takes the next piece and gives back what may leave: no part of a secret is ever in it. */
  push(text: string): string;
  /** The rest, once nothing more comes. */
  end(): string;
};

/** A place in the held text that is secret, and the length of the value that ended it. */
type Mask = { from: number; to: number; length: number };

/**
 * Masks known values in a stream, however it is cut: the pieces given back add up to the redacted whole. Text is held
 * only as long as a known value could still begin in it, at most the length of the longest one. Line breaks in the text do
 * not count, so a value that was wrapped is found wherever its lines end.
 */
export function createStreamRedactor(matcher: PatternMatcher): StreamRedactor {
  if (matcher.isEmpty) return { push: (text) => text, end: () => '' };
  let held = '';
  let state = 0;
  /** Places in `held` that are secret: sorted, apart from each other. */
  let masks: Mask[] = [];

  const release = (until: number): string => {
    let out = '';
    let at = 0;
    let done = 0;
    for (const mask of masks) {
      if (mask.to > until) break;
      out += held.slice(at, mask.from) + placeholder;
      at = mask.to;
      done++;
    }
    // A mask that reaches past the safe point may still grow: nothing from its start on leaves yet.
    const stop = Math.max(at, Math.min(until, masks[done]?.from ?? until));
    out += held.slice(at, stop);
    held = held.slice(stop);
    masks = masks.slice(done).map(({ from, to, length }) => ({ from: from - stop, to: to - stop, length }));
    return out;
  };

  return {
    push(text) {
      let i = held.length;
      held = held === '' ? text : held + text;
      while (i < held.length) {
        if (state === 0) i = matcher.firstStart(held, i);
        const unit = held.charCodeAt(i++);
        if (isLineBreak(unit)) continue;
        state = matcher.step(state, unit);
        const length = matcher.matchLength(state);
        if (length > 0) addMask(held, masks, i, length);
      }
      if (state === 0 && masks.length === 0) return takeAll();
      return release(startOf(held, held.length, matcher.depth(state)));
    },
    end: () => release(held.length),
  };

  function takeAll(): string {
    const all = held;
    held = '';
    return all;
  }
}

/** Adds the place of a value that ends after all others, joining what it overlaps: only the last ones can. */
function addMask(held: string, masks: Mask[], to: number, length: number): void {
  const previous = masks.at(-1);
  if (previous !== undefined && length <= previous.length && to - length < previous.to) {
    previous.to = to; // it begins after the one before it, so nobody needs to look where
    previous.length = length;
    return;
  }
  let from = startOf(held, to, length);
  for (let last = masks.at(-1); last !== undefined && last.to > from; last = masks.at(-1)) {
    from = Math.min(from, last.from);
    masks.pop();
  }
  masks.push({ from, to, length });
}

/** Where the last so many units before a place begin, line breaks not counted. */
function startOf(held: string, to: number, length: number): number {
  let from = to;
  for (let left = length; left > 0 && from > 0;) if (!isLineBreak(held.charCodeAt(--from))) left--;
  return from;
}

const isLineBreak = (unit: number): boolean => unit === 10 || unit === 13;
