import { hashOf, hasBit, window, type StartFilter } from './start-filter.ts';
import { block, lineBreak, unitClasses } from './unit-classes.ts';

const space = 32;
const tab = 9;

/** How far the last scan went. Nothing before that can be decided earlier, so it is not scanned again. */
export type Looked = { until: number };

/**
 * Up to where a text can be skipped, from a place where nothing is open: no value begins before that, in any encoding.
 * Line ends and the indentation after them are ignored, as by the decoder. The end of the text is never skipped when
 * a value may begin in it.
 */
export function quietUntil(text: string, from: number, { fours, shortestBlock }: StartFilter, looked: Looked): number {
  let units = 0;
  let seen = 0;
  let blockFrom = -1;
  let blockLength = 0;
  /** Where the last units before a line end begin, and how many units came since. */
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

/** A single space after a line end may belong to a value. */
const isLone = (text: string, at: number): boolean =>
  unitClasses[text.charCodeAt(at - 1)] === lineBreak && text.charCodeAt(at + 1) !== space && text.charCodeAt(at + 1) !== tab;
