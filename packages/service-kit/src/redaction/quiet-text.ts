import { hashOf, hasBit, window, type StartFilter } from './start-filter.ts';
import { block, lineBreak, unitClasses } from './unit-classes.ts';

const space = 32;
const tab = 9;

/** How far the last look went. What begins before that is only known from there, so nobody has to look again. */
export type Looked = { until: number };

/**
 * Up to where a text, from a place where nothing is open, can be passed over: no value begins before it, in whatever
 * encoding. Line ends and the indentation behind them do not count, as for the decoder. The end of the text is never
 * passed over when something may begin in it.
 */
export function quietUntil(text: string, from: number, { fours, shortestBlock }: StartFilter, looked: Looked): number {
  let units = 0;
  let seen = 0;
  let blockFrom = -1;
  let blockLength = 0;
  /** Where the last units before a line end begin, and how many units have come since. */
  let gapFrom = from;
  let sinceGap = 0;
  let i = from;
  for (; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    const kind = unitClasses[unit]!;
    if (kind > block) {
      if (kind !== lineBreak) break;
      if (sinceGap >= window - 1) gapFrom = i - (window - 1);
      sinceGap = 0;
      continue;
    }
    if (sinceGap === 0 && seen > 0 && (unit === space || unit === tab)) {
      if (isLone(text, i)) break;
      continue;
    }
    sinceGap++;
    seen++;
    units = (units << 8) ^ unit;
    if (hasBit(fours, hashOf(units)) && seen >= window) break;
    if (kind !== block) blockFrom = -1;
    else if (blockFrom === -1) {
      blockFrom = i;
      blockLength = 1;
    } else if (++blockLength >= shortestBlock) break;
  }
  looked.until = i;
  const start = sinceGap < window ? gapFrom : i - (window - 1);
  return Math.max(from, blockFrom === -1 ? start : Math.min(start, blockFrom));
}

/** One space behind a line end may be a value's own. */
const isLone = (text: string, at: number): boolean =>
  unitClasses[text.charCodeAt(at - 1)] === lineBreak && text.charCodeAt(at + 1) !== space && text.charCodeAt(at + 1) !== tab;
