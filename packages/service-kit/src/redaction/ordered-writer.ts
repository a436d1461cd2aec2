import { jsonInTurns, lengthAbout } from '../json/write-steps.ts';
import type { MaskedJson, OutboundMask } from './outbound-mask.ts';

/** Longer JSON is masked in slices. */
export const longJson = 16_384;

type Write = (json: MaskedJson) => void | Promise<void>;

/** As much may wait, in characters: several times the longest reply. */
const maxWaiting = 32 * 1024 * 1024;

/** Null when it was written at once, else a promise of it that never rejects. */
export type OrderedWriter = (value: unknown, write: Write) => Promise<void> | null;

/**
 * Writes values as masked JSON, in the order in which they are given: a short one at once, a long one in slices, and what
 * comes meanwhile waits for it. `onFault`: nothing more can be written, for something would be missing in between.
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
    if (waiting > maxWaiting) onFault(new Error('the reader takes too little of what is written'));
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
