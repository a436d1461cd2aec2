import { statSync } from 'node:fs';
import { Worker } from 'node:worker_threads';

export type Checkpointer = {
  /** Call it after each commit. When the log has grown enough, it is moved into the database file. */
  committed(): void;
  /**
   * Null, or a promise to wait for before the next commit, because the log grows faster than it is moved. The log can only
   * restart while nothing is written; otherwise SQLite would finally move all of it within a commit.
   */
  pause(): Promise<void> | null;
  close(): Promise<void>;
};

export type CheckpointerDeps = {
  clock: { elapsed(): number; after(ms: number, fn: () => void): () => void };
  log: { warn(details: object, message: string): void };
  /**
   * From this length on the log is moved and restarts in the same file. It is large because a page that was written ten times
   * is moved only once. The database's `journal_size_limit` must be the same, or a log that once grew would stay as long.
   */
  logBytes: number;
  /** How long the log may grow before commits wait. The commit that restarts it truncates it to `logBytes`. */
  maxBytes?: number;
};

/**
 * Each message requests one checkpoint, and says whether to truncate the log afterwards; each answer reports its end. The log is
 * truncated only when nothing writes or reads at that moment. This is no separate module, because stripping its types would
 * take 50 ms of every thread's start instead of 14.
 */
const program = `
  const { DatabaseSync } = require('node:sqlite');
  const { parentPort, workerData } = require('node:worker_threads');
  const db = new DatabaseSync(workerData, { timeout: 5000 });
  parentPort.on('message', ({ cutsOff }) => {
    db.exec('PRAGMA wal_checkpoint(PASSIVE)');
    if (cutsOff) db.exec('PRAGMA busy_timeout=0; PRAGMA wal_checkpoint(TRUNCATE); PRAGMA busy_timeout=5000');
    parentPort.postMessage('done');
  });
`;
/** A longer log is moved and truncated when nothing was written for `quietMs`: a start after a kill, and the doctor, read all of it. */
const quietBytes = 1024 * 1024;
const quietMs = 3000;
const idleMs = 5000;
/** How long checkpoints are left to SQLite after a failure, which costs a thread. */
const restMs = 60_000;
/** While a reader uses the log, waiting does not shorten it. Then commits do not wait for this long. */
const heldMs = 1000;

/**
 * Moves SQLite's write-ahead log into the database in another thread, because that waits for the disk and must not block the
 * event loop. The thread exists only while there is much to do. If it fails, SQLite does the same within a commit.
 */
export function createCheckpointer(
  file: string,
  { clock, log, logBytes, maxBytes = logBytes * 1.25 }: CheckpointerDeps,
): Checkpointer {
  let worker: Worker | null = null;
  let pass: PromiseWithResolvers<void> | null = null;
  let size = 0;
  let cancelEnd = () => {};
  let isResting = false;
  let cancelRest = () => {};
  let hasPaused = false;
  let heldUntil = -Infinity;
  let commits = 0;
  let cancelQuiet: (() => void) | null = null;

  const endPass = () => {
    pass?.resolve();
    pass = null;
  };
  const end = () => {
    const ending = worker?.terminate();
    worker = null;
    endPass();
    return ending;
  };
  const open = () => {
    const opened = new Worker(program, { eval: true, workerData: file });
    opened.unref();
    opened.on('message', () => {
      endPass();
      cancelEnd = clock.after(idleMs, () => void end());
    });
    opened.on('error', (error) => {
      log.warn({ err: error }, 'the log of the database could not be moved in the background');
      isResting = true;
      cancelRest = clock.after(restMs, () => (isResting = false));
      void end();
    });
    return opened;
  };
  /** Resolves at the end of the current pass or of a new one, even if it failed. */
  const run = async (cutsOff = false): Promise<void> => {
    if (isResting) return;
    if (pass !== null) return pass.promise;
    pass = Promise.withResolvers();
    cancelEnd();
    worker ??= open();
    worker.postMessage({ cutsOff });
    return pass.promise;
  };
  const awaitQuiet = () => {
    const before = commits;
    cancelQuiet = clock.after(quietMs, () => {
      cancelQuiet = null;
      if (commits === before) void run(true);
      else awaitQuiet();
    });
  };
  return {
    committed() {
      size = sizeOf(`${file}-wal`);
      if (hasPaused && size > maxBytes) heldUntil = clock.elapsed() + heldMs;
      hasPaused = false;
      commits += 1;
      if (size > quietBytes && cancelQuiet === null) awaitQuiet();
      if (size > logBytes) void run();
    },
    pause() {
      if (size <= maxBytes || clock.elapsed() < heldUntil) return null;
      size = 0;
      // A second pass moves what was written during the first.
      return run()
        .then(() => run())
        .then(() => {
          hasPaused = true;
        });
    },
    async close() {
      cancelEnd();
      cancelRest();
      cancelQuiet?.();
      await end();
    },
  };
}

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
