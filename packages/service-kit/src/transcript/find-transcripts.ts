import type { Stats } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import type { TranscriptRoot } from './transcript-roots.ts';

/** `changedAt`: when an entry was added or removed (epoch ms); `made`: tells it from a later folder of the same name. */
export type FoundFolder = { dir: string; level: number; changedAt: number; made: string };
export type FoundFile = { file: string; root: TranscriptRoot };
export type FoundEntry = FoundFolder | FoundFile;

/** After years of use a home has some hundreds of folders. */
const maxFolders = 5000;

/**
 * The folders and files of a root, from one of its folders down. It follows no links, enters no folders of other users and
 * opens no files. Never rejects: unreadable entries are left out.
 */
export async function* findTranscripts(root: TranscriptRoot, from = root.dir, level = 0): AsyncGenerator<FoundEntry> {
  let left = maxFolders;
  const waiting = [{ dir: from, level }];
  for (let next = waiting.pop(); next !== undefined && left > 0; next = waiting.pop(), left--) {
    const stat = await ownFolder(next.dir);
    if (stat === null) continue;
    yield { ...next, changedAt: stat.mtimeMs, made: `${stat.ino}:${stat.birthtimeMs}` };
    const entries = await readdir(next.dir, { withFileTypes: true }).catch(() => []);
    // Folders that are named after days come with the latest first.
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const at = path.join(next.dir, entry.name);
      if (entry.isDirectory() && isFolder(root, next.level, entry.name)) waiting.push({ dir: at, level: next.level + 1 });
      if (entry.isFile() && isTranscript(root, next.level, entry.name)) yield { file: at, root };
    }
  }
}

export const isFolder = ({ folders }: TranscriptRoot, level: number, name: string): boolean =>
  folders[level]?.test(name) === true;
export const isTranscript = ({ folders, file }: TranscriptRoot, level: number, name: string): boolean =>
  level === folders.length && file.test(name);

/** Null for anything else than a folder of this user. */
async function ownFolder(dir: string): Promise<Stats | null> {
  const stat = await lstat(dir).catch(() => null);
  return stat?.isDirectory() === true && stat.uid === process.getuid?.() ? stat : null;
}

/** `usedAt`: when anything in it, at any depth, was last written (epoch ms). */
export type UsedFolder = FoundFolder & { root: TranscriptRoot; usedAt: number };

/** The folders, the most recently used first. Using a folder uses those above it too. */
export function foldersByUse(
  folders: readonly Omit<UsedFolder, 'usedAt'>[],
  files: readonly { file: string; at: number }[],
): UsedFolder[] {
  const used = new Map(folders.map((folder) => [folder.dir, { ...folder, usedAt: 0 }]));
  const note = (dir: string, at: number) => {
    for (let folder = used.get(dir); folder !== undefined; folder = used.get(path.dirname(folder.dir)))
      folder.usedAt = Math.max(folder.usedAt, at);
  };
  for (const { dir, changedAt } of folders) note(dir, changedAt);
  for (const { file, at } of files) note(path.dirname(file), at);
  return [...used.values()].toSorted((a, b) => b.usedAt - a.usedAt);
}
