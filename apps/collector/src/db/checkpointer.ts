import { statSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Log } from '@svc/service-kit/log.ts';

export type Checkpointer = {
  /** To be called after each commit; when the log has grown enough, it is moved into the database file. */
  committed(): void;
  close(): Promise<void>;
};

const enoughBytes = 16 * 1024 * 1024;
const idleMs = 5000;

/**
 * Moves SQLite's write-ahead log into the database in another thread: it waits for the disk, which the loop must not.
 * The thread exists only while there is much to do. Should it fail, SQLite still does the same within a commit.
 */
export function createCheckpointer(file: string, clock: Clock, log: Pick<Log, 'warn'>): Checkpointer {
  let worker: Worker | null = null;
  let isBusy = false;
  let cancelEnd = () => {};

  const end = () => {
    const ending = worker?.terminate();
    worker = null;
    isBusy = false;
    return ending;
  };
  const open = () => {
    const opened = new Worker(new URL('./checkpoint-worker.ts', import.meta.url), { workerData: { file } });
    opened.unref();
    opened.on('message', () => {
      isBusy = false;
      cancelEnd = clock.after(idleMs, () => void end());
    });
    opened.on('error', (error) => {
      log.warn({ err: error }, 'the log of the database could not be moved beside the work');
      void end();
    });
    return opened;
  };
  return {
    committed() {
      if (isBusy || sizeOf(`${file}-wal`) < enoughBytes) return;
      isBusy = true;
      cancelEnd();
      worker ??= open();
      worker.postMessage('checkpoint');
    },
    async close() {
      cancelEnd();
      await end();
    },
  };
}

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
