import { lstat } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '@svc/service-kit/clock.ts';
import {
  findTranscripts,
  isFolder,
  isTranscript,
  type FoundFile,
  type FoundFolder,
  foldersByUse,
  type UsedFolder,
} from '@svc/service-kit/transcript/find-transcripts.ts';
import { createFolderWatchers, isFolderHere, nearestFolder } from './folder-watchers.ts';
import { createReadQueue } from './read-queue.ts';
import type { TranscriptRoot } from '@svc/service-kit/transcript/transcript-roots.ts';

type Deps = {
  roots: readonly TranscriptRoot[];
  clock: Clock;
  /** Reads the new part of a file. If it rejects, the file is retried. */
  read: (file: FoundFile) => Promise<void>;
  warn: (text: string) => void;
};

/** How often all files are checked, for changes that were not notified; and where folders cannot be watched. */
const sweepMs = 10 * 60_000;
const blindSweepMs = 60_000;
const keptMs = 30 * 24 * 3_600_000;
const maxFiles = 2000;
/** Folders that stay watched from one check to the next, which leaves room for new ones in between. */
const maxKept = 400;

export type TranscriptWatcher = {
  /** Resolves when all existing transcripts were read. */
  start(): Promise<void>;
  /** One line for /health; null if every file can be read. */
  fault(): string | null;
  close(): Promise<void>;
};

type SeenFile = FoundFile & { at: number };
type SeenFolder = Omit<UsedFolder, 'usedAt'>;

/** Reads transcripts when the system reports that they changed. Costs nothing while nothing is written. */
export function watchTranscripts({ roots, clock, read, warn }: Deps): TranscriptWatcher {
  const queue = createReadQueue({ clock, read, warn });
  const watchers = createFolderWatchers();
  /** Watches the folders above roots that do not exist yet. */
  const waiting = createFolderWatchers();
  /** When each file was last written, as of the last check of all files (epoch ms). */
  const seen = new Map<string, number>();
  /** Some folder in use could not be watched at the last check of all files. */
  let isBlind = false;
  let isClosed = false;
  let cancelSweep = () => {};

  const watchFolder = (root: TranscriptRoot, { dir, level, made }: FoundFolder) =>
    watchers.add(dir, dir, (name) => onNotice(root, dir, level, name), made);
  /** Waits for a root that does not exist yet: its engine may be installed, or first used, at any moment. */
  const watchAbove = async (root: TranscriptRoot) => {
    waiting.remove(root.dir);
    const folder = await nearestFolder(root.dir);
    const next = path.relative(folder, root.dir).split(path.sep)[0] ?? '';
    const isWatched = waiting.add(root.dir, folder, (name) => {
      if (name === next || name === null) void queue.run(() => lookOver([root]));
    });
    if (!isWatched) isBlind = true;
    // The next folder may have been created before it was watched.
    const there = path.join(folder, next);
    if (there !== root.dir && (await isFolderHere(there))) await watchAbove(root);
  };
  const onNotice = (root: TranscriptRoot, dir: string, level: number, name: string | null) => {
    if (name === null) return void queue.run(() => lookOver([root]));
    const at = path.join(dir, name);
    if (isTranscript(root, level, name)) queue.changed({ file: at, root });
    else if (isFolder(root, level, name)) {
      // It may be a new folder with the same name.
      watchers.remove(at);
      void queue.run(() => lookInto(root, at, level + 1));
    }
  };
  /** Reads a new folder: its content may have been created before it was watched. */
  const lookInto = async (root: TranscriptRoot, dir: string, level: number) => {
    for await (const entry of findTranscripts(root, dir, level)) {
      if ('file' in entry) queue.changed(entry);
      else watchFolder(root, entry);
    }
  };

  const lookAtRoot = async (root: TranscriptRoot, files: SeenFile[], folders: SeenFolder[]) => {
    let isThere = false;
    for await (const entry of findTranscripts(root)) {
      isThere = true;
      if ('file' in entry) files.push({ ...entry, at: await writtenAt(entry.file) });
      else {
        watchFolder(root, entry);
        folders.push({ ...entry, root });
      }
    }
    if (isThere) waiting.remove(root.dir);
    else await watchAbove(root);
  };
  const lookOver = async (some = roots) => {
    const files: SeenFile[] = [];
    const folders: SeenFolder[] = [];
    const since = clock.now() - keptMs;
    if (some === roots) isBlind = false;
    for (const root of some) await lookAtRoot(root, files, folders);
    const newest = newestOf(files, since);
    const fresh = newest.filter(({ file, at }) => seen.get(file) !== at);
    if (some === roots) {
      seen.clear();
      queue.forgetFaults();
      await watchUsed(foldersByUse(folders, files), since);
    }
    for (const { file, at } of newest) seen.set(file, at);
    await queue.readAll(fresh);
  };
  /** Keeps watching the most recently used folders, if there are too many: engines create new ones for years. */
  const watchUsed = async (folders: readonly UsedFolder[], since: number) => {
    const kept = folders.slice(0, maxKept);
    watchers.keep(new Set(kept.map(({ dir }) => dir)));
    for (const folder of kept) {
      if (watchers.has(folder.dir)) continue;
      // Files that were added since it was read were not notified.
      if (watchFolder(folder.root, folder)) await lookInto(folder.root, folder.dir, folder.level);
      else isBlind = true;
    }
    if ((folders[maxKept]?.usedAt ?? 0) >= since) isBlind = true;
  };
  const sweep = async () => {
    try {
      await lookOver();
    } finally {
      if (!isClosed) cancelSweep = clock.after(isBlind ? blindSweepMs : sweepMs, () => void queue.run(sweep));
    }
  };

  return {
    start: () => queue.run(sweep),
    fault: () => queue.fault(),
    async close() {
      isClosed = true;
      cancelSweep();
      watchers.close();
      waiting.close();
      await queue.close();
    },
  };
}

const newestOf = (files: readonly SeenFile[], since: number): SeenFile[] =>
  files
    .filter(({ at }) => at >= since)
    .toSorted((a, b) => b.at - a.at)
    .slice(0, maxFiles);

const writtenAt = (file: string): Promise<number> =>
  lstat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
