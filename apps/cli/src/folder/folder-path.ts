import { homedir } from 'node:os';
import path from 'node:path';

/** A folder as it was typed, in full. Shells leave `~` alone where it is part of an option (`--cwd=~/src`). */
export function folderPath(typed: string, from = process.cwd(), home = homedir()): string {
  if (typed === '~' || typed.startsWith('~/')) return path.join(home, typed.slice(1));
  return path.resolve(from, typed);
}
