import { readdir, realpath } from 'node:fs/promises';
import path from 'node:path';
import type { Encoding } from './conditions.ts';

/** `encodings`: the compressed forms that are stored beside the file, smallest first. */
export type StaticFile = { path: string; encodings: Encoding[] };

const maxFiles = 5_000;
const maxDepth = 12;
const endings: readonly [Encoding, string][] = [
  ['br', '.br'],
  ['gzip', '.gz'],
];

/**
 * Lists the files of a folder by their relative paths, with `/`. Links, names that begin with a dot, and special files such as sockets are
 * left out. Rejects when the folder cannot be read, or holds more files than a web app has.
 */
export async function listFiles(dir: string): Promise<Map<string, StaticFile>> {
  const found = new Set<string>();
  await collect(await realpath(dir), '', found);
  const files = new Map<string, StaticFile>();
  for (const name of found) {
    if (isFormOfAnother(name, found)) continue;
    const encodings = endings.filter(([, ending]) => found.has(name + ending)).map(([encoding]) => encoding);
    files.set(name, { path: path.join(dir, name), encodings });
  }
  return files;
}

async function collect(dir: string, below: string, found: Set<string>, depth = 0): Promise<void> {
  if (depth > maxDepth) throw new Error(`The folders in ${dir} are nested more than ${maxDepth} levels deep.`);
  for (const entry of await readdir(path.join(dir, below), { withFileTypes: true })) {
    if (entry.name.startsWith('.')) continue;
    const name = below + entry.name;
    if (entry.isDirectory()) await collect(dir, `${name}/`, found, depth + 1);
    else if (entry.isFile()) found.add(name);
    if (found.size > maxFiles) throw new Error(`${dir} contains more than ${maxFiles} files, too many to be served.`);
  }
}

const isFormOfAnother = (name: string, found: Set<string>): boolean =>
  endings.some(([, ending]) => name.endsWith(ending) && found.has(name.slice(0, -ending.length)));
