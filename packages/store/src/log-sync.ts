import { open } from 'node:fs/promises';

/** Syncs commits to disk a moment later, in the background. */
export type LogSync = {
  /** Call it after each commit. */
  committed(): void;
  /** The system's reason why syncing fails at the moment; null while it works. */
  fault(): string | null;
  close(): Promise<void>;
};

/** Together with the duration of a sync, a power failure loses less than a second. */
const delayMs = 500;

/**
 * With `synchronous=NORMAL`, the system decides when SQLite's log is written to disk, which may take half a minute. `file`: the
 * log. It is not locked, so opening it beside SQLite is safe.
 */
export function createLogSync(file: string): LogSync {
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<void> | null = null;
  let fault: string | null = null;

  const start = () => {
    timer = null;
    running = sync(file)
      .then(
        () => (fault = null),
        (error: unknown) => (fault = `changes cannot be synced to disk: ${(error as Error).message}`),
      )
      .then(() => void (running = null));
  };
  return {
    committed() {
      // A commit during a sync may come too late for it.
      timer ??= setTimeout(() => (running === null ? start() : void running.then(start)), delayMs).unref();
    },
    fault: () => fault,
    async close() {
      if (timer !== null) clearTimeout(timer);
      await running;
    },
  };
}

async function sync(file: string): Promise<void> {
  try {
    await using handle = await open(file, 'r');
    await handle.datasync();
  } catch (error) {
    // Where a file system does not support such a log, SQLite uses another one and syncs it itself.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
