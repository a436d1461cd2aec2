import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { readReleaseInfo } from './release-info.ts';

/** A file of this name in the clone says in its first line who keeps the installation up to date. */
const flagFile = '.managed';

type Settings = {
  /** SVC_UPDATE_MANAGED */
  updateManaged: string | null;
  /** SVC_UPDATE_ARCHIVES */
  updateArchives: string | null;
};

/**
 * Who updates this installation in our place; null when `svc update` does. A folder without git, such as an unpacked
 * archive, is another tool's to replace when nothing says where newer archives are.
 */
export function managerOf(home: string, { updateManaged, updateArchives }: Settings): string | null {
  if (updateManaged !== null) return updateManaged;
  const flag = path.join(home, flagFile);
  if (existsSync(flag)) return readFileSync(flag, 'utf8').split('\n')[0]?.trim() || 'another program';
  return isClone(home) || archivesOf(home, updateArchives) !== null ? null : 'archive';
}

/** The address where newer archives of an unpacked one are: as set (`SVC_UPDATE_ARCHIVES`), else as the archive says; null for a clone, and when nobody said so. */
export const archivesOf = (home: string, setting: string | null): string | null =>
  isClone(home) ? null : (setting ?? readReleaseInfo(home)?.archives ?? null);

/** Why the main branch cannot be followed there. */
export const onlyReleases = 'Archives are of releases only: to follow the main branch, use a clone (docs/installing.md).';

const isClone = (home: string): boolean => existsSync(path.join(home, '.git'));
