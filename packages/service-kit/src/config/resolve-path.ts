import { homedir } from 'node:os';
import path from 'node:path';

/**
 * The full path: `~` is the home folder, a relative one lies in `root`, so that every process and every shell means the
 * same place. Null where it needs a home folder and the user has none.
 */
export function resolvePath(root: string, file: string): string | null {
  if (file !== '~' && !file.startsWith('~/')) return path.resolve(root, file);
  const home = homeFolder();
  return home === null ? null : path.join(home, file.slice(1));
}

/** Null for a user whom the system does not know and whose `HOME` is not set. */
function homeFolder(): string | null {
  try {
    const folder = homedir();
    return path.isAbsolute(folder) ? folder : null;
  } catch {
    return null;
  }
}
