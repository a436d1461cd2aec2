import { dataPaths } from '../config/data-dir.ts';
import { namesIn } from '../files.ts';

/** How to go back to a backup, by the newest one there is. */
export function restoreAdvice(dataDir: string): string {
  const newest = archivesIn(dataPaths(dataDir).backups).toSorted().at(-1);
  if (newest === undefined) return 'No backup is in this data folder. One that you keep elsewhere: ./svc backup restore FILE';
  return `Go back to the newest backup: ./svc backup restore ${newest} (./svc backup list shows all)`;
}

/** Ids begin with their time, so the newest is the last by name. */
const archivesIn = (folder: string): string[] =>
  namesIn(folder).flatMap((name) => /^(bak_[0-9a-z]+)\.tar\.gz$/.exec(name)?.[1] ?? []);
