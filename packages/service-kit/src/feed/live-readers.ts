import type { Clock } from '../clock.ts';
import type { SseStream } from '../http/sse-stream.ts';

/** The first item is sent at once; those that follow within this time are sent together, because a thousand readers mean a thousand writes. */
const gatherMs = 10;

/**
 * The readers that get every item at once. Items that are sent together are one buffer that all readers share, so a reader
 * that stopped reading holds a reference until it is dropped, not a copy.
 */
export type LiveReaders<T> = {
  publish(item: T): void;
  /** Adds a reader from the next item on. Waiting items are sent first, to the readers that were there before. */
  add(reader: SseStream): void;
};

export function createLiveReaders<T>(frameOf: (item: T) => string, clock: Clock): LiveReaders<T> {
  const readers = new Set<SseStream>();
  let waiting = '';
  let sentAt = Number.NEGATIVE_INFINITY;
  let cancel = () => {};

  const flush = () => {
    cancel();
    if (waiting === '') return;
    const frames = Buffer.from(waiting);
    waiting = '';
    sentAt = clock.elapsed();
    for (const reader of readers) reader.sendShared(frames);
  };
  const flushSoon = () => {
    const pause = sentAt + gatherMs - clock.elapsed();
    if (pause > 0) cancel = clock.after(Math.min(pause, gatherMs), flush);
    else queueMicrotask(flush);
  };
  const leave = (reader: SseStream) => {
    readers.delete(reader);
    if (readers.size > 0) return;
    cancel();
    waiting = '';
  };

  return {
    publish(item) {
      if (readers.size === 0) return;
      if (waiting === '') flushSoon();
      waiting += frameOf(item);
    },
    add(reader) {
      if (reader.signal.aborted) return;
      flush();
      readers.add(reader);
      reader.signal.addEventListener('abort', () => leave(reader));
    },
  };
}
