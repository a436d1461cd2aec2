import { mkdirSync, readdirSync, type Dirent } from 'node:fs';
import { getCompileCacheDir } from 'node:module';
import path from 'node:path';
import { linkFile } from './link-tree.ts';

/** Where `svc` keeps compiled code in a folder of a version. */
const cachePlace = '.cache/node';

/** For a process of a version that `svc` does not start: where it finds and keeps compiled code. */
export const compileCacheOf = (folder: string): Record<string, string> => ({
  NODE_COMPILE_CACHE: path.join(folder, cachePlace),
  NODE_COMPILE_CACHE_PORTABLE: '1',
});

/**
 * Shares the compiled code of one version with another, so that a trial compiles only what has changed. Node finds it by the place of a file within
 * the version (`NODE_COMPILE_CACHE_PORTABLE` of `svc`), uses it only for a text of the same length and checksum, and replaces its files instead
 * of writing into them. Connectors can write their own cache, so that one stays behind. `dir`: the cache of this process.
 */
export function takeCompiled(like: string, folder: string, dir: string | undefined = getCompileCacheDir()): void {
  if (dir === undefined) return;
  // The same name for all processes of one Node; code that another one has compiled is of no use.
  const place = path.join(cachePlace, path.basename(dir));
  const [from, to] = [path.join(like, place), path.join(folder, place)];
  const entries = filesIn(from);
  if (entries.length > 0) mkdirSync(to, { recursive: true });
  for (const { name } of entries) shareFile(path.join(from, name), path.join(to, name));
}

function filesIn(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  } catch {
    return []; // nothing was compiled by this Node, or it is kept elsewhere
  }
}

function shareFile(from: string, to: string): void {
  try {
    linkFile(from, to);
  } catch {
    // The running service has just replaced it: what is missing is compiled when it is loaded.
  }
}
