import type { Clock } from '../clock.ts';
import type { SseStream } from '../http/sse-stream.ts';
import { createFeedRing, type RingLimits } from './feed-ring.ts';
import { createLiveReaders } from './live-readers.ts';

/** What happens, as server-sent events with ids, to any number of readers: each gets every item once, in order, at its own pace. */
export type Feed<T> = {
  publish(item: T): void;
  /**
   * Gives a reader what came after `lastId`, the last item it has seen (null for one that begins), then all that happens. One
   * that missed some gets a frame that says so first. Resolves when it has caught up, or left.
   */
  follow(reader: SseStream, lastId: string | null): Promise<void>;
};

export type FeedOptions<T> = {
  /** What is held for readers that come back. */
  ring: RingLimits;
  lengthOf(item: T): number;
  /** The frame of an item, made once for all readers. */
  frameOf(item: T): string;
  /** Of one that was held; `frameOf` unless given. */
  replayOf?(item: T): string;
  /** Says that items are missing after the one with this id. It has no id of its own, so that readers keep their place. */
  gapOf(lastId: string | null): string;
  clock: Clock;
};

/** What is replayed goes out in pieces of about this many characters, each when there is room for it. */
const pieceChars = 128 * 1024;
/** A reader that makes no room for this long is dropped. */
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
      // Nothing is awaited between the last look and this, so nothing falls between them.
      live.add(reader);
    },
  };
}
