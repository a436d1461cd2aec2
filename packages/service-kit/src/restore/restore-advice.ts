import { statfsSync } from 'node:fs';
import { dataPaths } from '../config/data-dir.ts';
import { namesIn } from '../files.ts';
import { timeOfId } from '../ids.ts';

/** With less free space SQLite cannot open a database, and only reports "disk I/O error". */
const fullBytes = 1024 * 1024;

/** How to restore the newest backup. On a full disk that would not help, and freeing space is enough. */
export function restoreAdvice(dataDir: string, free = freeBytes(dataDir)): string {
  if (free < fullBytes) return `The disk of ${dataDir} is full. Free some space on it`;
  const archives = archivesIn(dataPaths(dataDir).backups).toSorted();
  // An id from the future was made while the clock was ahead, so it does not count as the newest.
  const newest = archives.findLast((id) => (timeOfId(id) ?? 0) <= Date.now()) ?? archives.at(-1);
  if (newest === undefined)
    return 'There is no backup in this data folder. To restore one from elsewhere: ./svc backup restore FILE';
  return `Restore the newest backup: ./svc backup restore ${newest} (./svc backup list shows all)`;
}

function freeBytes(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return Number.POSITIVE_INFINITY; // the file system does not report it
  }
}

/** Ids begin with their time, so the newest comes last by name. */
const archivesIn = (folder: string): string[] =>
  namesIn(folder).flatMap((name) => /^(bak_[0-9a-z]+)\.tar\.gz$/.exec(name)?.[1] ?? []);
