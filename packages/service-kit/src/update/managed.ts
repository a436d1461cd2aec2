import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { readReleaseInfo } from './release-info.ts';

/** The first line of this file in the clone names who updates the installation. */
const flagFile = '.managed';

type Settings = {
  /** SVC_UPDATE_MANAGED */
  updateManaged: string | null;
  /** SVC_UPDATE_ARCHIVES */
  updateArchives: string | null;
};

/**
 * Who updates this installation instead of `svc update`; null when `svc update` does. A folder without git, such as an
 * unpacked archive, has to be replaced by another tool when the place of newer archives is unknown.
 */
export function managerOf(home: string, { updateManaged, updateArchives }: Settings): string | null {
  if (updateManaged !== null) return updateManaged;
  const flag = path.join(home, flagFile);
  if (existsSync(flag)) return readFileSync(flag, 'utf8').split('\n')[0]?.trim() || 'another program';
  return isClone(home) || archivesOf(home, updateArchives) !== null ? null : 'archive';
}

/** The address of newer archives: from `SVC_UPDATE_ARCHIVES`, else from the unpacked archive; null for a clone, or if unknown. */
export const archivesOf = (home: string, setting: string | null): string | null =>
  isClone(home) ? null : (setting ?? readReleaseInfo(home)?.archives ?? null);

/** Why an unpacked archive cannot follow the main branch. */
export const onlyReleases = 'Archives exist for releases only. To follow the main branch, use a clone (docs/installing.md).';

const isClone = (home: string): boolean => existsSync(path.join(home, '.git'));
