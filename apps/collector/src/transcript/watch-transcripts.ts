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
  /** Reads what is new in a file. When it rejects, the file is tried again. */
  read: (file: FoundFile) => Promise<void>;
  warn: (text: string) => void;
};

/** Everything is looked over this often, for what no notice came of; and where no notices can be had. */
const sweepMs = 10 * 60_000;
const blindSweepMs = 60_000;
const keptMs = 30 * 24 * 3_600_000;
const maxFiles = 2000;
/** Folders that are watched from one look to the next; there is room for as many new ones as come in between. */
const maxKept = 400;

export type TranscriptWatcher = {
  /** Resolves when everything that is there was looked at. */
  start(): Promise<void>;
  /** One line for /health; null when every file can be read. */
  fault(): string | null;
  close(): Promise<void>;
};

type SeenFile = FoundFile & { at: number };
type SeenFolder = Omit<UsedFolder, 'usedAt'>;

/** Reads transcripts when the system says that they changed. Costs nothing while nobody writes. */
export function watchTranscripts({ roots, clock, read, warn }: Deps): TranscriptWatcher {
  const queue = createReadQueue({ clock, read, warn });
  const watchers = createFolderWatchers();
  /** Of places that are not there yet, in the folders above them. */
  const waiting = createFolderWatchers();
  /** When each file was last written, as of the last time that everything was looked over (epoch ms). */
  const seen = new Map<string, number>();
  /** No notice comes of some folder that is in use, as of the last time that everything was looked over. */
  let isBlind = false;
  let isClosed = false;
  let cancelSweep = () => {};

  const watchFolder = (root: TranscriptRoot, { dir, level, made }: FoundFolder) =>
    watchers.add(dir, dir, (name) => onNotice(root, dir, level, name), made);
  /** Waits for a root that is not there yet: its engine may be installed, or used for the first time, at any moment. */
  const watchAbove = async (root: TranscriptRoot) => {
    waiting.remove(root.dir);
    const folder = await nearestFolder(root.dir);
    const next = path.relative(folder, root.dir).split(path.sep)[0] ?? '';
    const isWatched = waiting.add(root.dir, folder, (name) => {
      if (name === next || name === null) void queue.run(() => lookOver([root]));
    });
    if (!isWatched) isBlind = true;
    // A part of the way may have come while nobody watched.
    const there = path.join(folder, next);
    if (there !== root.dir && (await isFolderHere(there))) await watchAbove(root);
  };
  const onNotice = (root: TranscriptRoot, dir: string, level: number, name: string | null) => {
    if (name === null) return void queue.run(() => lookOver([root]));
    const at = path.join(dir, name);
    if (isTranscript(root, level, name)) queue.changed({ file: at, root });
    else if (isFolder(root, level, name)) {
      // It may be another folder of the same name.
      watchers.remove(at);
      void queue.run(() => lookInto(root, at, level + 1));
    }
  };
  /** A folder that is new: what is in it may have been there before it was watched. */
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
  /** Of more folders than can be watched those that were used last are: engines make new ones for years. */
  const watchUsed = async (folders: readonly UsedFolder[], since: number) => {
    const kept = folders.slice(0, maxKept);
    watchers.keep(new Set(kept.map(({ dir }) => dir)));
    for (const folder of kept) {
      if (watchers.has(folder.dir)) continue;
      // What came into it since it was read was not noticed.
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
