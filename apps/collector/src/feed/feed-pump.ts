import { setImmediate as nextTurn } from 'node:timers/promises';
import { createFeedLog, type Portion } from './feed-log.ts';

/** The connection of a reader, which holds at most one portion at a time. */
export type FeedReader = {
  /** False while it has not taken the last portion. */
  isReady(): boolean;
  write(portion: Portion): void;
  drop(): void;
};

type Place = { next: number; told: number };

/** A reader that takes nothing is dropped when `waitingBytes` wait for it alone; one that is only slow, at `keptBytes`. */
const limits = { waitingBytes: 4 * 1024 * 1024, keptBytes: 32 * 1024 * 1024 };
/** Others get their turn after so many readers. A dropped one costs many times as much as one that is written to. */
const readersAtOnce = 50;
const dropCost = 5;

export type FeedPump = ReturnType<typeof createFeedPump>;

/** Brings what is told to every reader, a portion each in turn, in the order of the items. */
export function createFeedPump(onFault: (error: unknown) => void, { waitingBytes, keptBytes } = limits) {
  const log = createFeedLog();
  const places = new Map<FeedReader, Place>();
  let isPumping = false;

  const remove = (reader: FeedReader) => {
    places.delete(reader);
    if (places.size === 0) log.forgetBefore(log.end);
  };

  /** What it cost, 0 for nothing. */
  const serve = (reader: FeedReader, place: Place): number => {
    if (place.next === log.end) return 0;
    const isReady = reader.isReady();
    // By its own lag, never by what all of them are kept for: one slow reader would cost those that keep up their connection.
    if (log.told - place.told > (isReady ? keptBytes : Math.min(waitingBytes, keptBytes))) {
      remove(reader);
      reader.drop();
      return dropCost;
    }
    if (!isReady) return 0;
    const portion = log.portion(place.next);
    place.next += portion.count;
    place.told += portion.bytes;
    reader.write(portion);
    return 1;
  };

  /** One portion for everybody who takes one; false when nobody did. */
  const round = async (): Promise<boolean> => {
    let cost = 0;
    let isMoved = false;
    for (const [reader, place] of places) {
      cost += serve(reader, place);
      isMoved ||= cost > 0;
      if (cost < readersAtOnce) continue;
      cost = 0;
      await nextTurn();
    }
    let least = log.end;
    for (const { next } of places.values()) least = Math.min(least, next);
    log.forgetBefore(least);
    return isMoved;
  };

  const pump = async () => {
    try {
      // What is told within one tick goes together.
      do await nextTurn();
      while (await round());
    } finally {
      isPumping = false;
    }
  };
  const start = () => {
    if (isPumping || log.kept === 0) return;
    isPumping = true;
    pump().catch(onFault);
  };

  return {
    add: (reader: FeedReader): void => void places.set(reader, { next: log.end, told: log.told }),
    remove,
    /** A reader has become ready. */
    goOn: start,
    get size() {
      return places.size;
    },
    /** Tells everybody who is here now. */
    tell(item: string): void {
      if (places.size === 0) return;
      log.add(item);
      start();
    },
    /** Characters that a reader has not taken yet. */
    get kept() {
      return log.kept;
    },
    close(): void {
      places.clear();
      log.forgetBefore(log.end);
    },
  };
}
