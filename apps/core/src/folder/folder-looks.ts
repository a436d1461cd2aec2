import type { Clock } from '@svc/service-kit/clock.ts';
import { checkFolder, type FolderFinding } from './check-folder.ts';

/** Looks at folders, never waiting for a file system that hangs. */
export type FolderLooks = {
  look(folder: string): Promise<FolderFinding>;
  /** The shared workspace will do too. */
  lookForTrust(folder: string): Promise<FolderFinding>;
  /** What the last look found wrong; null when all was well, or nobody has looked yet. Looks again beside that. */
  lastFault(folder: string): string | null;
};

type Deps = { dataDir: string; clock: Pick<Clock, 'elapsed' | 'after'>; check?: typeof checkFolder };
type Look = { at: number; pending: Promise<FolderFinding>; found: FolderFinding | null };

const patienceMs = 2000;
const recheckMs = 30_000;
const maxKept = 2000;
/** Each may hold a thread of Node's four for as long as a file system hangs. */
const maxAtOnce = 2;
const hangs = { ok: false, why: 'its file system does not answer' } as const satisfies FolderFinding;

export function createFolderLooks({ dataDir, clock, check = checkFolder }: Deps): FolderLooks {
  const looks = new Map<string, Look>();
  const inLine = createLine(maxAtOnce);

  const begin = (folder: string): Look => {
    const pending = inLine(() => check(folder, { dataDir }));
    const begun: Look = { at: clock.elapsed(), pending, found: null };
    void pending.then((found) => (begun.found = found));
    if (looks.size >= maxKept) for (const [path, { found }] of looks) if (found !== null) looks.delete(path);
    looks.set(folder, begun);
    return begun;
  };

  /** One look at a time for each folder: on a file system that hangs each holds a thread. */
  const current = (folder: string, maxAge: number): Look => {
    const last = looks.get(folder);
    if (last === undefined) return begin(folder);
    return last.found === null || clock.elapsed() - last.at < maxAge ? last : begin(folder);
  };

  const within = ({ pending, found, at }: Look): Promise<FolderFinding> => {
    if (found !== null) return Promise.resolve(found);
    const left = patienceMs - (clock.elapsed() - at);
    if (left <= 0) return Promise.resolve(hangs);
    return new Promise((resolve) => {
      const cancel = clock.after(left, () => resolve(hangs));
      void pending.then((finding) => {
        cancel();
        resolve(finding);
      });
    });
  };

  return {
    look: (folder) => within(current(folder, 0)),
    lookForTrust: (folder) =>
      within({ at: clock.elapsed(), pending: inLine(() => check(folder, { dataDir, orWorkspace: true })), found: null }),
    lastFault(folder) {
      const last = looks.get(folder);
      const { found, at } = current(folder, recheckMs);
      if (found === null && clock.elapsed() - at >= patienceMs) return hangs.why;
      const known = found ?? last?.found ?? null;
      return known === null || known.ok ? null : known.why;
    },
  };
}

/** Runs at most so many at once, the others in their order. */
function createLine(limit: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= limit) await new Promise<void>((go) => waiting.push(go));
    else running++;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  };
}
