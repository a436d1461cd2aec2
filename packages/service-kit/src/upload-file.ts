import { lstatSync, realpathSync } from 'node:fs';
import path from 'node:path';

/** A finished file of the upload area. `path` contains no link; `dev` and `ino` identify the file that was checked. */
export type UploadFile = { path: string; relative: string; bytes: number; dev: bigint; ino: bigint };

/** Why a path is no upload: it leads outside (or to the service's own files there), does not exist, or is no regular file. */
export type UploadFault = 'outside' | 'missing' | 'not_a_file';

/**
 * The one check that a path names a finished upload: in the area, without a link on the way, and neither the list of uploads
 * nor an unfinished one (those begin with a dot). For a path outside, it does not reveal whether that exists.
 */
export function findUpload(area: string, file: string): UploadFile | UploadFault {
  const realArea = realPath(area) ?? path.resolve(area);
  const relative = relativeTo([path.resolve(area), realArea], file);
  if (relative === null || isOurs(relative)) return 'outside';
  const found = path.join(realArea, relative);
  const facts = lstatOrNull(found);
  if (facts === null) return 'missing';
  if (facts.isSymbolicLink() || realPath(found) !== found) return 'outside';
  if (!facts.isFile()) return 'not_a_file';
  return { path: found, relative, bytes: Number(facts.size), dev: facts.dev, ino: facts.ino };
}

function relativeTo(folders: readonly string[], file: string): string | null {
  if (!path.isAbsolute(file) || file.includes('\0')) return null;
  for (const folder of folders) {
    const relative = path.relative(folder, path.normalize(file));
    const isInside = relative !== '' && relative.split(path.sep)[0] !== '..' && !path.isAbsolute(relative);
    if (isInside) return relative;
  }
  return null;
}

const isOurs = (relative: string): boolean =>
  relative === 'manifest.jsonl' || relative.split(path.sep).some((part) => part.startsWith('.'));

function lstatOrNull(file: string) {
  try {
    return lstatSync(file, { bigint: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ENAMETOOLONG' || code === 'ELOOP') return null;
    throw error;
  }
}

function realPath(file: string): string | null {
  try {
    return realpathSync(file);
  } catch {
    return null; // it does not exist, or is a broken link
  }
}
