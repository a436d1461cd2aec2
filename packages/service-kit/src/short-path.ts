import { homedir } from 'node:os';

/** A path as people write it, with `~` for this user's home folder. */
export function shortPath(file: string, home = homedir()): string {
  return home !== '' && home !== '/' && `${file}/`.startsWith(`${home}/`) ? `~${file.slice(home.length)}` : file;
}
