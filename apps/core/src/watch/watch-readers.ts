import type { SessionStreamFrame } from '@svc/contract/session.ts';
import { createPace } from '@svc/service-kit/redaction/pace.ts';
import type { Parcels } from './parcels.ts';
import type { WatchRing } from './watch-ring.ts';
import type { Watcher } from './watch-types.ts';

type Options = {
  ring: WatchRing;
  parcels: Parcels;
  /** The frames for a watcher who has seen nothing, or not all, up to the next place of the ring. */
  present(hasGap: boolean): SessionStreamFrame[];
  onFault(error: unknown): void;
  /** The last watcher has left. */
  onEmpty(): void;
};

/** The watchers of one conversation. Each reads the ring at its own pace: none delays another, and none needs a queue. */
export interface WatchReaders {
  /** `after`: the place of the last frame that was seen; null for a new watcher. The returned function removes the watcher. */
  add(watcher: Watcher, after: number | null): () => void;
  /** The ring has new frames. */
  wake(): void;
  forgotten(): void;
  count(): number;
}

type Reader = { watcher: Watcher; place: number; isTaking: boolean };

/** How much is read for a watcher at a time, in characters. */
const pieceChars = 128 * 1024;

export function createWatchReaders({ ring, parcels, present, onFault, onEmpty }: Options): WatchReaders {
  const readers = new Set<Reader>();
  let isWaking = false;

  const leave = (reader: Reader): void => {
    if (readers.delete(reader) && readers.size === 0) onEmpty();
  };

  /** Sends the running turns from their beginning. */
  const begin = async (reader: Reader, hasGap: boolean): Promise<void> => {
    const frames = present(hasGap);
    reader.place = ring.next();
    const parcel = await parcels.present(frames);
    if (readers.has(reader)) reader.watcher.send(parcel);
  };

  /** Sends a watcher the available frames, as long as it accepts more. */
  const take = async (reader: Reader): Promise<void> => {
    reader.isTaking = true;
    while (readers.has(reader)) {
      const part = ring.read(reader.place, pieceChars);
      if (part.isBroken) await begin(reader, true);
      else if (part.frames.length === 0) break;
      else {
        reader.watcher.send(parcels.of(reader.place, part));
        reader.place = part.next;
      }
      const room = reader.watcher.room();
      if (room !== null && !(await room)) leave(reader);
    }
    reader.isTaking = false;
  };

  const serve = (reader: Reader, serving: Promise<void>): void =>
    void serving.catch((error: unknown) => {
      leave(reader);
      onFault(error);
      reader.watcher.failed();
    });

  const wakeAll = async (): Promise<void> => {
    isWaking = false;
    const pace = createPace();
    for (const reader of readers) {
      if (!reader.isTaking) serve(reader, take(reader));
      if (pace.isDue()) await pace.pause();
    }
  };

  return {
    add(watcher, after) {
      const reader: Reader = { watcher, place: after === null ? ring.next() : after + 1, isTaking: true };
      readers.add(reader);
      serve(reader, after === null ? begin(reader, false).then(() => take(reader)) : take(reader));
      return () => leave(reader);
    },
    wake() {
      if (isWaking) return;
      isWaking = true;
      queueMicrotask(() => void wakeAll());
    },
    forgotten() {
      for (const { watcher } of readers) watcher.forgotten?.();
    },
    count: () => readers.size,
  };
}
