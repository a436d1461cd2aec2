import { jsonInTurns, lengthAbout } from '../json/write-steps.ts';
import type { MaskedJson, OutboundMask } from './outbound-mask.ts';

/** Longer JSON is masked in slices. */
export const longJson = 16_384;

type Write = (json: MaskedJson) => void | Promise<void>;

/** How many characters may wait: several times the longest reply. */
const maxWaiting = 32 * 1024 * 1024;

/** Returns null when it wrote the value at once, otherwise a promise that never rejects. */
export type OrderedWriter = (value: unknown, write: Write) => Promise<void> | null;

/**
 * Writes values as masked JSON, in order: a short one at once, a long one in slices, while later ones wait.
 * `onFault`: nothing more can be written, because something would be missing in between.
 */
export function createOrderedWriter(
  mask: Pick<OutboundMask, 'jsonText' | 'longJsonText'>,
  onFault: (error: unknown) => void,
): OrderedWriter {
  let last: Promise<void> | null = null;
  let waiting = 0;
  return (value, write) => {
    const json = jsonInTurns(value);
    if (last === null && typeof json === 'string' && json.length <= longJson) {
      const written = write(mask.jsonText(json));
      return written ?? null;
    }
    const length = typeof json === 'string' ? json.length : lengthAbout(value);
    waiting += length;
    if (waiting > maxWaiting) onFault(new Error('the reader is too slow: too much output is waiting'));
    const before = last;
    const writing = (async () => {
      const masked = await mask.longJsonText(await json);
      await before;
      await write(masked);
    })()
      .catch(onFault)
      .finally(() => {
        waiting -= length;
        if (last === writing) last = null;
      });
    return (last = writing);
  };
}
