import type { Clock } from '@svc/service-kit/clock.ts';
import { createLane } from '@svc/service-kit/lane.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import type { FoundFile } from '@svc/service-kit/transcript/find-transcripts.ts';

type Deps = {
  clock: Pick<Clock, 'after'>;
  read: (file: FoundFile) => Promise<void>;
  warn: (text: string) => void;
};

/** Reads files one after the other, with other jobs in between. A file that cannot be read is retried. */
export type ReadQueue = {
  /** Reads the file in a moment, together with others that change until then. */
  changed(found: FoundFile): void;
  /** Reads these files now; called within a job. */
  readAll(files: readonly FoundFile[]): Promise<void>;
  /** Runs a job when those before it have ended. Never rejects. */
  run(job: () => Promise<void>): Promise<void>;
  /** One line for /health; null if every file can be read. */
  fault(): string | null;
  /** Clears the faults, because everything is about to be read again. */
  forgetFaults(): void;
  close(): Promise<void>;
};

/** Changes are collected for this long, because an engine writes many lines at once. */
const gatherMs = 300;
const retryMs = 2000;

export function createReadQueue({ clock, read, warn }: Deps): ReadQueue {
  const waiting = new Map<string, FoundFile>();
  const failing = new Map<string, string>();
  let isClosed = false;
  const inTurn = createLane(1);
  let cancelGather: (() => void) | null = null;

  const run = (job: () => Promise<void>): Promise<void> =>
    inTurn(async () => (isClosed ? undefined : job())).catch((error: unknown) => warn(String(error)));
  const readLater = (found: FoundFile, ms: number) => {
    waiting.set(found.file, found);
    if (!isClosed) cancelGather ??= clock.after(ms, () => void run(readWaiting));
  };
  const readWaiting = async () => {
    cancelGather = null;
    const files = [...waiting.values()];
    waiting.clear();
    await readAll(files);
  };
  const readAll = async (files: readonly FoundFile[]) => {
    for (const found of files) {
      if (isClosed) return;
      await read(found).then(
        () => failing.delete(found.file),
        (error: unknown) => tryAgain(found, errorText(error)),
      );
    }
  };
  const tryAgain = (found: FoundFile, why: string) => {
    // Logged once for a file, because it is retried every two seconds.
    if (!failing.has(found.file)) warn(`${found.file}: ${why}`);
    failing.set(found.file, why);
    readLater(found, retryMs);
  };
  return {
    changed: (found) => readLater(found, gatherMs),
    readAll,
    run,
    fault() {
      const [why] = failing.values();
      return why === undefined ? null : `Transcripts cannot be read (${failing.size}) and will be retried: ${why}`;
    },
    forgetFaults: () => failing.clear(),
    async close() {
      isClosed = true;
      cancelGather?.();
      await inTurn(async () => undefined);
    },
  };
}
