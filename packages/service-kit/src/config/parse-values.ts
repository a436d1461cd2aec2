import { isIPv4 } from 'node:net';
import { homedir } from 'node:os';
import path from 'node:path';

const units: Record<string, number> = { '': 1, b: 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 };

/** Parses a size such as `1024mb`, `8 MiB` or `65536` to bytes (a kilobyte has 1024); null for anything else. */
export function parseBytes(text: string): number | null {
  const match = /^(\d{1,12}(?:\.\d{1,6})?)\s*(?:([kmgt])?(?:i?b)?)$/i.exec(text.trim());
  const [, amount = '', unit = ''] = match ?? [];
  const factor = units[unit.toLowerCase()];
  if (match === null || factor === undefined) return null;
  const bytes = Math.floor(Number(amount) * factor);
  return Number.isSafeInteger(bytes) ? bytes : null;
}

/** The words of a command line: separated by spaces, or a JSON array of strings. Null if it is neither. */
export function parseCommand(line: string): string[] | null {
  if (!line.trim().startsWith('[')) return line.trim().split(/\s+/);
  try {
    const words: unknown = JSON.parse(line);
    const isCommand = Array.isArray(words) && words.length > 0 && words.every((word) => typeof word === 'string' && word !== '');
    return isCommand ? (words as string[]) : null;
  } catch {
    return null; // the setting's type reports it
  }
}

export const isHttpUrl = (value: string): boolean => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);

/** An http address of this machine, without user, path or query. */
export function isLocalUrl(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, hostname, username, pathname, search } = new URL(value);
  const isHere = hostname === 'localhost' || hostname === '[::1]' || (isIPv4(hostname) && hostname.startsWith('127.'));
  return protocol === 'http:' && isHere && username === '' && pathname === '/' && search === '';
}

/**
 * The full path: `~` is the home folder, and a relative path is resolved in `root`, so that it is the same in every process
 * and shell. Null if it needs a home folder and the user has none.
 */
export function resolvePath(root: string, file: string): string | null {
  if (file !== '~' && !file.startsWith('~/')) return path.resolve(root, file);
  const home = homeFolder();
  return home === null ? null : path.join(home, file.slice(1));
}

/** Null for a user who is unknown to the system and has no `HOME`. */
function homeFolder(): string | null {
  try {
    const folder = homedir();
    return path.isAbsolute(folder) ? folder : null;
  } catch {
    return null;
  }
}
