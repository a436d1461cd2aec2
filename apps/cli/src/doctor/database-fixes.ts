import path from 'node:path';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { restoreAdvice } from '@svc/service-kit/restore/restore-advice.ts';
import { quoted } from '../terminal.ts';

/** How to fix a damaged database of a data folder. */
export function damagedFix(dataDir: string, file: string): string {
  const { searchDb, vaultDb, loginDb } = dataPaths(dataDir);
  const restore = restoreAdvice(dataDir);
  if (file === searchDb) return `stop the service, then ${moveAway(file)}; it is rebuilt from collector.db`;
  if (file === loginDb) return './svc auth reset, which makes a new login; the service goes on';
  if (file === vaultDb) return `${restore}, with --secrets`;
  return `${restore}; or, to begin without it, stop the service, then ${moveAway(file)}`;
}

/** How to fix changes that were set aside, by the name of their file. */
export const setAsideFix = (dataDir: string, name: string): string =>
  `${restoreAdvice(dataDir)}; or when nothing is missing: rm ${quoted(path.join(dataDir, name))}`;

/** Moves the files beside it too: a remaining write-ahead log would be applied to the next database of this name. */
function moveAway(file: string): string {
  const folder = path.join(path.dirname(file), 'broken');
  return `mkdir -p ${quoted(folder)} && mv ${quoted(file)}* ${quoted(folder)}`;
}
