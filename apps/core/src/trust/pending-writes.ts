import type { Clock } from '@svc/service-kit/clock.ts';
import { createLane } from '@svc/service-kit/lane.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { PendingRow, PendingStore } from './pending-store.ts';

type Deps = {
  store: Pick<PendingStore, 'write'>;
  /** Ids that are in the database. */
  stored: Iterable<string>;
  /** Whether a row still belongs to the senders in memory. */
  isHeld(row: PendingRow): boolean;
  clock: Pick<Clock, 'after'>;
  log: Pick<Log, 'error'>;
};

/** The changes of denied senders that are still to be written. They are written at most once a second, so that a flood of messages is no flood of writes. */
export type PendingWrites = {
  changed(row: PendingRow): void;
  removed(row: PendingRow): void;
  /** Resolves when everything is written. */
  flush(): Promise<void>;
  /** As `flush`; what cannot be written is logged. */
  close(): Promise<void>;
};

const writeEveryMs = 1000;
/** A write blocks the process for a moment, so a flood of senders is written in pieces. */
const rowsPerWrite = 200;

export function createPendingWrites({ store, stored: ids, isHeld, clock, log }: Deps): PendingWrites {
  const unwritten = new Set<PendingRow>();
  /** Ids that may be in the database, and those of them that must be removed. */
  const stored = new Set(ids);
  const gone = new Set<string>();
  let timer: (() => void) | null = null;
  const inTurn = createLane(1);

  const write = async (): Promise<void> => {
    const changed = [...unwritten].slice(0, rowsPerWrite);
    const deleted = [...gone];
    for (const row of changed) {
      unwritten.delete(row);
      stored.add(row.id);
    }
    for (const id of deleted) gone.delete(id);
    try {
      await store.write(changed, deleted);
    } catch (error) {
      for (const row of changed) if (isHeld(row)) unwritten.add(row);
      for (const id of deleted) gone.add(id);
      throw error;
    }
  };
  const flush = (): Promise<void> =>
    inTurn(async () => {
      while (unwritten.size > 0 || gone.size > 0) await write();
    });
  const failed = (error: unknown) => log.error({ err: error }, 'unknown senders could not be stored');
  const writeSoon = () => {
    timer ??= clock.after(writeEveryMs, () => {
      timer = null;
      inTurn(write).then(
        () => void (unwritten.size + gone.size > 0 && writeSoon()),
        // Nothing is lost: it is tried again with the next message.
        failed,
      );
    });
  };

  return {
    changed(row) {
      unwritten.add(row);
      writeSoon();
    },
    removed(row) {
      unwritten.delete(row);
      if (!stored.delete(row.id)) return;
      gone.add(row.id);
      writeSoon();
    },
    flush,
    async close() {
      timer?.();
      await flush().catch(failed);
    },
  };
}
