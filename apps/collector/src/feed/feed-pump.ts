import { setImmediate as nextTurn } from 'node:timers/promises';
import { createFeedLog, type FeedLog, type Portion } from './feed-log.ts';

/** The connection of a reader, which buffers at most one portion at a time. */
export type FeedReader = {
  /** False while the last portion is not sent yet. */
  isReady(): boolean;
  write(portion: Portion): void;
  drop(): void;
};

type Place = { next: number; given: number };
type Limits = { waitingBytes: number; keptBytes: number };
type State = { log: FeedLog; places: Map<FeedReader, Place>; limits: Limits };

/** A stalled reader is dropped when `waitingBytes` are waiting for it; one that is only slow, at `keptBytes`. */
const usualLimits: Limits = { waitingBytes: 4 * 1024 * 1024, keptBytes: 32 * 1024 * 1024 };
/** After this many readers, other work gets a turn. Dropping a reader costs several times as much as a write. */
const readersAtOnce = 50;
const dropCost = 5;

/** Sends every item to every reader in order, one portion for each reader in turn. */
export type FeedPump = {
  add(reader: FeedReader): void;
  remove(reader: FeedReader): void;
  /** Continues, because a reader has become ready. */
  resume(): void;
  /** The number of readers. */
  readonly size: number;
  /** Sends an item to every present reader. */
  publish(item: string): void;
  /** Characters that some reader has not received yet. */
  readonly kept: number;
  close(): void;
};

export function createFeedPump(onFault: (error: unknown) => void, limits = usualLimits): FeedPump {
  const state: State = { log: createFeedLog(), places: new Map(), limits };
  const { log, places } = state;
  let isPumping = false;

  const pump = async () => {
    try {
      // Items published within one tick are sent together.
      do await nextTurn();
      while (await serveAll(state));
    } finally {
      isPumping = false;
    }
  };
  const resume = () => {
    if (isPumping || log.kept === 0) return;
    isPumping = true;
    pump().catch(onFault);
  };
  return {
    add: (reader) => void places.set(reader, { next: log.end, given: log.added }),
    remove: (reader) => remove(state, reader),
    resume,
    get size() {
      return places.size;
    },
    publish(item) {
      if (places.size === 0) return;
      log.add(item);
      resume();
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

/** Sends a portion to every reader that is ready; false if none was. */
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

/** Returns the cost; 0 if nothing was done. */
function serve(state: State, reader: FeedReader, place: Place): number {
  const { log, limits } = state;
  if (place.next === log.end) return 0;
  const isReady = reader.isReady();
  // By the reader's own lag, not by the size of the log: otherwise one slow reader would cost others their connection.
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
