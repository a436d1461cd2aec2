import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** A file of this name in the clone says in its first line who keeps the installation up to date. */
const flagFile = '.managed';

/**
 * Who updates this installation in our place; null when `svc update` does. `setting`: SVC_UPDATE_MANAGED. A folder without git, such as
 * an unpacked archive, is somebody else's to replace.
 */
export function managerOf(home: string, setting: string | null): string | null {
  if (setting !== null) return setting;
  const flag = path.join(home, flagFile);
  if (existsSync(flag)) return readFileSync(flag, 'utf8').split('\n')[0]?.trim() || 'another program';
  return existsSync(path.join(home, '.git')) ? null : 'archive';
}
