import { statSync } from 'node:fs';
import { Worker } from 'node:worker_threads';

export type Checkpointer = {
  /** To be called after each commit; when the log has grown enough, it is moved into the database file. */
  committed(): void;
  /**
   * Null, or what to wait for before the next commit, because the log grows faster than it is moved. It can only begin
   * again while nobody writes; otherwise SQLite would move all of it within a commit in the end.
   */
  pause(): Promise<void> | null;
  close(): Promise<void>;
};

export type CheckpointerDeps = {
  clock: { elapsed(): number; after(ms: number, fn: () => void): () => void };
  log: { warn(details: object, message: string): void };
  /**
   * From here on the log is moved, and begins again in the same file. Seldom: a page that was written ten times is moved
   * once. The database's `journal_size_limit` has to be the same, or a log that once grew would stay as long.
   */
  logBytes: number;
  /** How long the log may grow before commits wait. What is past `logBytes` is cut off by the commit that begins it again. */
  maxBytes?: number;
};

/**
 * Each message asks for one checkpoint, and whether to cut the log off afterwards; each answer says that it is over. It is cut off only
 * when nobody writes or reads at that moment. Not a module of its own: to strip types off one would take 50 ms of every thread's start,
 * where this takes 14.
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
/** A log longer than this is moved and cut off once nothing was written for `quietMs`: a start after a kill, and the doctor, read all of it. */
const quietBytes = 1024 * 1024;
const quietMs = 3000;
const idleMs = 5000;
/** After a failure, which costs a thread, it is left to SQLite for so long. */
const restMs = 60_000;
/** A reader that holds on to the log keeps it long, whatever waits: then nothing does, for so long. */
const heldMs = 1000;

/**
 * Moves SQLite's write-ahead log into the database in another thread: it waits for the disk, which the loop must not.
 * The thread exists only while there is much to do. Should it fail, SQLite still does the same within a commit.
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
      log.warn({ err: error }, 'the log of the database could not be moved beside the work');
      isResting = true;
      cancelRest = clock.after(restMs, () => (isResting = false));
      void end();
    });
    return opened;
  };
  /** Resolves at the end of the pass that runs, or of a new one; also when it failed. */
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
      // What was written while the first pass ran is left to a second one.
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
