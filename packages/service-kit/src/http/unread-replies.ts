import type { Writable } from 'node:stream';

const mib = 1024 * 1024;
export const maxUnreadBytes = 64 * mib;
/** Of one reply, not worth counting: the number of connections bounds it. */
const freeBytes = 64 * 1024;
const goodShare = 0.9;

/** A reply, or a whole connection. */
type Reply = Pick<Writable, 'writableLength' | 'destroyed'> & {
  destroy(): unknown;
  once(event: 'close', then: () => void): unknown;
};

export type UnreadReplies = {
  /** Something was written to a reply. */
  wrote(response: Reply): void;
};

/**
 * Bounds what readers have not taken yet, over all replies of a server. Past the bound the one who leaves most unread is cut
 * off.
 */
export function createUnreadReplies(maxBytes = maxUnreadBytes): UnreadReplies {
  const replies = new Map<Reply, number>();
  let total = 0;
  const set = (response: Reply, bytes: number) => {
    total += bytes - (replies.get(response) ?? 0);
    if (bytes > 0) replies.set(response, bytes);
    else replies.delete(response);
  };
  /** What was taken meanwhile has not been reported. */
  const lookAgain = () => {
    for (const response of replies.keys()) set(response, response.destroyed ? 0 : response.writableLength);
  };
  const cutOffLargest = () => {
    let largest: Reply | null = null;
    let most = 0;
    for (const [response, bytes] of replies) if (bytes > most) [largest, most] = [response, bytes];
    if (largest === null) return;
    set(largest, 0);
    largest.destroy();
  };
  return {
    wrote(response) {
      const bytes = response.writableLength;
      if (bytes <= freeBytes && !replies.has(response)) return;
      if (!replies.has(response)) response.once('close', () => set(response, 0));
      set(response, bytes);
      if (total <= maxBytes) return;
      lookAgain();
      // A little more than has to be, so that not every further write looks at all of them.
      if (total > maxBytes) while (total > maxBytes * goodShare) cutOffLargest();
    },
  };
}
