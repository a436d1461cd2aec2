import type { Clock } from '../clock.ts';
import type { SseStream } from '../http/sse-stream.ts';
import { createFeedRing, type RingLimits } from './feed-ring.ts';
import { createLiveReaders } from './live-readers.ts';

/** Sends items as server-sent events with ids to any number of readers. Each gets every item once, in order, at its own pace. */
export type Feed<T> = {
  publish(item: T): void;
  /**
   * Sends a reader the items after `lastId`, the last one that it has seen (null for a new reader), then all further ones. A
   * reader that has missed items first gets a gap frame. Resolves when the reader has caught up, or left.
   */
  follow(reader: SseStream, lastId: string | null): Promise<void>;
};

export type FeedOptions<T> = {
  /** How many items are kept for readers that reconnect. */
  ring: RingLimits;
  lengthOf(item: T): number;
  /** The frame of an item, made once for all readers. */
  frameOf(item: T): string;
  /** The frame of a replayed item; default: `frameOf`. */
  replayOf?(item: T): string;
  /** The frame that reports missing items after the one with this id. It has no id itself, so that readers keep their position. */
  gapOf(lastId: string | null): string;
  clock: Clock;
};

/** Items are replayed in pieces of about this many characters, each when the reader has room for it. */
const pieceChars = 128 * 1024;
/** A reader without room for this long is dropped. */
const patienceMs = 30_000;
const maxIdLength = 128;

export function createFeed<T extends { id: string }>(options: FeedOptions<T>): Feed<T> {
  const { frameOf, replayOf = frameOf, gapOf } = options;
  const ring = createFeedRing<T>(options.ring, options.lengthOf);
  const live = createLiveReaders(frameOf, options.clock);

  return {
    publish(item) {
      ring.push(item);
      live.publish(item);
    },

    async follow(reader, lastId) {
      const id = lastId === null || lastId.length > maxIdLength ? null : lastId;
      const known = lastId === null ? ring.end() : id === null ? null : ring.placeAfter(id);
      if (known === null) reader.send(gapOf(id));
      let place = known ?? ring.first();
      let seen = id;
      for (let part = ring.read(place, pieceChars); part.items.length > 0; part = ring.read(place, pieceChars)) {
        if (part.isBroken) reader.send(gapOf(seen));
        reader.send(part.items.map(replayOf).join(''));
        place = part.next;
        seen = part.items.at(-1)?.id ?? seen;
        if (!(await reader.drained(patienceMs))) return;
      }
      // No await since the last read of the ring, so no item is missed in between.
      live.add(reader);
    },
  };
}
