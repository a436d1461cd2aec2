import { hashOf, hasBit, window, type StartFilter } from './start-filter.ts';
import { block, lineBreak, unitClasses } from './unit-classes.ts';

/**
 * Up to where a text, from a place where nothing is open, can be passed over: no value begins before it, in whatever
 * encoding. The end of the text is never passed over when something may begin in it.
 */
export function quietUntil(text: string, from: number, starts: StartFilter): number {
  const { fours, shortestBlock } = starts;
  let units = 0;
  let lineFrom = from;
  let blockFrom = -1;
  const before = (at: number) => Math.max(from, blockFrom === -1 ? at : Math.min(at, blockFrom));
  for (let i = from; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    const kind = unitClasses[unit]!;
    if (kind > block) {
      const goesOn = kind === lineBreak && blockFrom === -1 && !mayHaveBegun(text, lineFrom, i, starts);
      if (!goesOn) return before(i - (window - 1));
      lineFrom = i + 1;
      units = 0;
      continue;
    }
    units = (units << 8) ^ unit;
    if (hasBit(fours, hashOf(units)) && i - lineFrom >= window - 1) return before(i - (window - 1));
    if (kind !== block) blockFrom = -1;
    else if (blockFrom === -1) blockFrom = i;
    else if (i - blockFrom >= shortestBlock) return blockFrom;
  }
  return before(text.length - (window - 1));
}

/** True when some of the last units before a place are what a pattern begins with. */
function mayHaveBegun(text: string, from: number, to: number, { heads }: StartFilter): boolean {
  for (let start = Math.max(from, to - (window - 1)); start < to; start++) {
    let units = 0;
    for (let i = start; i < to; i++) units = (units << 8) ^ text.charCodeAt(i);
    if (hasBit(heads, hashOf(units))) return true;
  }
  return false;
}
