import { homedir } from 'node:os';
import path from 'node:path';

/** The full path of a typed folder. Shells do not expand `~` within an option (`--cwd=~/src`). */
export function folderPath(typed: string, from = process.cwd(), home = homedir()): string {
  if (typed === '~' || typed.startsWith('~/')) return path.join(home, typed.slice(1));
  return path.resolve(from, typed);
}
