import type { Writable } from 'node:stream';

const mib = 1024 * 1024;
export const maxUnreadBytes = 64 * mib;
/** Fewer unread bytes of one reply are not counted; the number of connections limits them. */
const freeBytes = 64 * 1024;
const goodShare = 0.9;

/** A reply, or a whole connection. */
type Reply = Pick<Writable, 'writableLength' | 'destroyed'> & {
  destroy(): unknown;
  once(event: 'close', then: () => void): unknown;
};

export type UnreadReplies = {
  /** Must be called after each write to a reply. */
  wrote(response: Reply): void;
};

/**
 * Limits the unread bytes of all replies of a server together. Above the limit the reader with the most unread bytes is
 * disconnected.
 */
export function createUnreadReplies(maxBytes = maxUnreadBytes): UnreadReplies {
  const replies = new Map<Reply, number>();
  let total = 0;
  const set = (response: Reply, bytes: number) => {
    total += bytes - (replies.get(response) ?? 0);
    if (bytes > 0) replies.set(response, bytes);
    else replies.delete(response);
  };
  /** Reads are not reported, so the counts have to be refreshed. */
  const recount = () => {
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
      recount();
      // Frees a little more than necessary, so that not every further write has to recount.
      if (total > maxBytes) while (total > maxBytes * goodShare) cutOffLargest();
    },
  };
}
