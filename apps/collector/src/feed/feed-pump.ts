import { setImmediate as nextTurn } from 'node:timers/promises';
import { createFeedLog, type FeedLog, type Portion } from './feed-log.ts';

/** The connection of a reader, which holds at most one portion at a time. */
export type FeedReader = {
  /** False while it has not taken the last portion. */
  isReady(): boolean;
  write(portion: Portion): void;
  drop(): void;
};

type Place = { next: number; given: number };
type Limits = { waitingBytes: number; keptBytes: number };
type State = { log: FeedLog; places: Map<FeedReader, Place>; limits: Limits };

/** A reader that takes nothing is dropped when `waitingBytes` wait for it alone; one that is only slow, at `keptBytes`. */
const usualLimits: Limits = { waitingBytes: 4 * 1024 * 1024, keptBytes: 32 * 1024 * 1024 };
/** Others get their turn after so many readers. A dropped one costs many times as much as one that is written to. */
const readersAtOnce = 50;
const dropCost = 5;

/** Brings every item to every reader, a portion each in turn, in the order of the items. */
export type FeedPump = {
  add(reader: FeedReader): void;
  remove(reader: FeedReader): void;
  /** A reader has become ready. */
  goOn(): void;
  /** Readers. */
  readonly size: number;
  /** For every reader that is here now. */
  publish(item: string): void;
  /** Characters that some reader has not taken yet. */
  readonly kept: number;
  close(): void;
};

export function createFeedPump(onFault: (error: unknown) => void, limits = usualLimits): FeedPump {
  const state: State = { log: createFeedLog(), places: new Map(), limits };
  const { log, places } = state;
  let isPumping = false;

  const pump = async () => {
    try {
      // What is published within one tick goes together.
      do await nextTurn();
      while (await serveAll(state));
    } finally {
      isPumping = false;
    }
  };
  const goOn = () => {
    if (isPumping || log.kept === 0) return;
    isPumping = true;
    pump().catch(onFault);
  };
  return {
    add: (reader) => void places.set(reader, { next: log.end, given: log.added }),
    remove: (reader) => remove(state, reader),
    goOn,
    get size() {
      return places.size;
    },
    publish(item) {
      if (places.size === 0) return;
      log.add(item);
      goOn();
    },
    get kept() {
      return log.kept;
    },
    close() {
      places.clear();
      log.forgetBefore(log.end);
    },
  };
}

/** One portion for every reader that takes one; false when none did. */
async function serveAll(state: State): Promise<boolean> {
  const { log, places } = state;
  let cost = 0;
  let isMoved = false;
  for (const [reader, place] of places) {
    cost += serve(state, reader, place);
    isMoved ||= cost > 0;
    if (cost < readersAtOnce) continue;
    cost = 0;
    await nextTurn();
  }
  let least = log.end;
  for (const { next } of places.values()) least = Math.min(least, next);
  log.forgetBefore(least);
  return isMoved;
}

/** What it cost, 0 for nothing. */
function serve(state: State, reader: FeedReader, place: Place): number {
  const { log, limits } = state;
  if (place.next === log.end) return 0;
  const isReady = reader.isReady();
  // By its own lag, never by what all of them are kept for: one slow reader would cost those that keep up their connection.
  if (log.added - place.given > (isReady ? limits.keptBytes : Math.min(limits.waitingBytes, limits.keptBytes))) {
    remove(state, reader);
    reader.drop();
    return dropCost;
  }
  if (!isReady) return 0;
  const portion = log.portion(place.next);
  place.next += portion.count;
  place.given += portion.bytes;
  reader.write(portion);
  return 1;
}

function remove({ log, places }: State, reader: FeedReader): void {
  places.delete(reader);
  if (places.size === 0) log.forgetBefore(log.end);
}
