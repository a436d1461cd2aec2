import { open } from 'node:fs/promises';

/** Brings what was committed to the disk a moment later, beside the work. */
export type LogSync = {
  /** To be called after each commit. */
  committed(): void;
  /** Why that fails at the moment, as the system says it; null while it does not. */
  fault(): string | null;
  close(): Promise<void>;
};

/** With the time that a sync takes, a loss of power costs less than a second. */
const delayMs = 500;

/**
 * SQLite's log in `synchronous=NORMAL` comes to the disk when the system sees fit, which may take half a minute. `file`: the log, which nobody locks, so
 * opening it beside SQLite changes nothing about that.
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
        (error: unknown) => (fault = `what was written does not come to the disk: ${(error as Error).message}`),
      )
      .then(() => void (running = null));
  };
  return {
    committed() {
      // What is committed while a sync runs may be too late for it.
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
    // Where a file system cannot have such a log, SQLite keeps another one, and brings it to the disk itself.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
