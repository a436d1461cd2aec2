import { statfsSync } from 'node:fs';
import { dataPaths } from '../config/data-dir.ts';
import { namesIn } from '../files.ts';
import { timeOfId } from '../ids.ts';

/** With less than this SQLite can open no database, and says no more than "disk I/O error". */
const fullBytes = 1024 * 1024;

/** How to go back to a backup, by the newest one there is. On a full disk that helps nobody, and nothing need be lost. */
export function restoreAdvice(dataDir: string, free = freeBytes(dataDir)): string {
  if (free < fullBytes) return `The disk of ${dataDir} is full. Free some space on it`;
  const archives = archivesIn(dataPaths(dataDir).backups).toSorted();
  // What a clock that was ahead has made is older than it says.
  const newest = archives.findLast((id) => (timeOfId(id) ?? 0) <= Date.now()) ?? archives.at(-1);
  if (newest === undefined) return 'No backup is in this data folder. One that you keep elsewhere: ./svc backup restore FILE';
  return `Go back to the newest backup: ./svc backup restore ${newest} (./svc backup list shows all)`;
}

function freeBytes(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return Number.POSITIVE_INFINITY; // a file system that does not say
  }
}

/** Ids begin with their time, so the newest is the last by name. */
const archivesIn = (folder: string): string[] =>
  namesIn(folder).flatMap((name) => /^(bak_[0-9a-z]+)\.tar\.gz$/.exec(name)?.[1] ?? []);
