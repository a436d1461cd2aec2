import type { PatternMatcher } from './pattern-matcher.ts';

export const placeholder = '[redacted:secret]';

export type StreamRedactor = {
  /** Takes the next piece and gives back what may leave: no part of a secret is ever in it. */
  push(text: string): string;
  /** The rest, once nothing more comes. */
  end(): string;
};

/**
 * Masks known values in a stream, however it is cut: the pieces given back add up to the redacted whole. Text is held
 * only as long as a known value could still begin in it, at most the length of the longest one.
 */
export function createStreamRedactor(matcher: PatternMatcher): StreamRedactor {
  if (matcher.isEmpty) return { push: (text) => text, end: () => '' };
  let held = '';
  let state = 0;
  /** Places in `held` that are secret: sorted, apart from each other. */
  let masks: { from: number; to: number }[] = [];

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
    masks = masks.slice(done).map(({ from, to }) => ({ from: from - stop, to: to - stop }));
    return out;
  };

  return {
    push(text) {
      const offset = held.length;
      held += text;
      for (let i = 0; i < text.length; i++) {
        state = matcher.step(state, text.charCodeAt(i));
        const length = matcher.matchLength(state);
        if (length > 0) addMask(masks, { from: offset + i + 1 - length, to: offset + i + 1 });
      }
      return release(held.length - matcher.depth(state));
    },
    end: () => release(held.length),
  };
}

/** Adds a place that ends after all others, joining what it overlaps: only the last ones can. */
function addMask(masks: { from: number; to: number }[], added: { from: number; to: number }): void {
  let from = Math.max(0, added.from);
  for (let last = masks.at(-1); last !== undefined && last.to > from; last = masks.at(-1)) {
    from = Math.min(from, last.from);
    masks.pop();
  }
  masks.push({ from, to: added.to });
}
