import { homedir } from 'node:os';

/** A path as people write it: `~` for the folder of this user. */
export function shortPath(file: string, home = homedir()): string {
  return home !== '' && home !== '/' && `${file}/`.startsWith(`${home}/`) ? `~${file.slice(home.length)}` : file;
}
