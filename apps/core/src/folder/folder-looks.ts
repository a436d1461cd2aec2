import type { Clock } from '@svc/service-kit/clock.ts';
import { checkFolder, createLineage, realPath, type FolderFinding } from './check-folder.ts';

/** Checks folders without ever waiting for an unresponsive file system. */
export type FolderLooks = {
  look(folder: string): Promise<FolderFinding>;
  /** Also accepts the shared workspace. */
  lookForTrust(folder: string): Promise<FolderFinding>;
  /** The path with its links resolved; unchanged where nothing exists. */
  resolve(folder: string): Promise<FolderFinding>;
  /** The fault that the last check found; null when there was none, or no check yet. Starts another check. */
  lastFault(folder: string): string | null;
};

type Deps = {
  dataDir: string;
  clock: Pick<Clock, 'elapsed' | 'after'>;
  check?: typeof checkFolder;
  resolve?: typeof realPath;
};
/** `answer` arrives within `patienceMs`; `found` is set when the file system has answered, however late. */
type Look = { at: number; answer: Promise<FolderFinding>; found: FolderFinding | null };

const patienceMs = 2000;
const recheckMs = 30_000;
const maxKept = 2000;
/** Each may block one of Node's four threads for as long as a file system is unresponsive. */
const maxAtOnce = 2;
const hangs = { ok: false, why: 'its file system does not answer' } as const satisfies FolderFinding;
const crowded = {
  ok: false,
  why: 'it could not be checked, because the file systems of other folders do not answer',
} as const satisfies FolderFinding;

export function createFolderLooks({ dataDir, clock, check = checkFolder, resolve = realPath }: Deps): FolderLooks {
  const place = { dataDir, lineageOfData: createLineage(dataDir, clock) };
  const line = createLine(maxAtOnce);

  /** A check that has begun runs to its end; one that gets no slot in time leaves the queue. */
  const begin = (work: () => Promise<FolderFinding>): Look => {
    const answer = Promise.withResolvers<FolderFinding>();
    const begun: Look = { at: clock.elapsed(), answer: answer.promise, found: null };
    const settle = (found: FolderFinding) => {
      begun.found = found;
      answer.resolve(found);
    };
    const leave = line(async () => {
      settle(await work());
      cancel();
    });
    const cancel = clock.after(patienceMs, () => (leave() ? settle(crowded) : answer.resolve(hangs)));
    return begun;
  };

  const usual = createLooks((folder) => begin(() => check(folder, place)), clock);
  const forTrust = createLooks((folder) => begin(() => check(folder, { ...place, orWorkspace: true })), clock);
  const paths = createLooks((folder) => begin(() => resolve(folder)), clock);

  return {
    look: (folder) => usual.current(folder, 0).answer,
    lookForTrust: (folder) => forTrust.current(folder, 0).answer,
    resolve: (folder) => paths.current(folder, 0).answer,
    lastFault(folder) {
      const last = usual.last(folder);
      const { found, at } = usual.current(folder, recheckMs);
      if (found === null && clock.elapsed() - at >= patienceMs) return hangs.why;
      const known = found ?? last?.found ?? null;
      return known === null || known.ok ? null : known.why;
    },
  };
}

/** One check at a time for each folder: on an unresponsive file system each blocks a thread. */
function createLooks(begin: (folder: string) => Look, clock: Pick<Clock, 'elapsed'>) {
  const looks = new Map<string, Look>();
  return {
    last: (folder: string) => looks.get(folder),
    current(folder: string, maxAge: number): Look {
      const last = looks.get(folder);
      if (last !== undefined && (last.found === null || clock.elapsed() - last.at < maxAge)) return last;
      if (looks.size >= maxKept) for (const [path, { found }] of looks) if (found !== null) looks.delete(path);
      const begun = begin(folder);
      looks.set(folder, begun);
      return begun;
    },
  };
}

/** Runs at most `limit` at once, the others in order. The returned function cancels one that has not begun; false when it has. */
function createLine(limit: number): (work: () => Promise<void>) => () => boolean {
  const waiting = new Set<() => Promise<void>>();
  let running = 0;
  const run = (work: () => Promise<void>): void => {
    running++;
    void work().finally(() => {
      running--;
      const [next] = waiting;
      if (next === undefined) return;
      waiting.delete(next);
      run(next);
    });
  };
  return (work) => {
    if (running < limit) run(work);
    else waiting.add(work);
    return () => waiting.delete(work);
  };
}
