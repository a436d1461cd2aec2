import path from 'node:path';
import type { FoundFolder } from './find-transcripts.ts';
import type { TranscriptRoot } from './transcript-roots.ts';

/** `usedAt`: when something in it, or further below, was last written (epoch ms). */
export type UsedFolder = FoundFolder & { root: TranscriptRoot; usedAt: number };

/** Folders with the one that was used last first. A folder is used when one below it is. */
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
