import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { badRequest, forbidden } from '@svc/service-kit/service-error.ts';

/**
 * The real path of a file of the upload area. Whatever lies elsewhere, links followed, is `forbidden` without a word on
 * whether it exists; what is no file is a `bad_request`.
 */
export async function checkUpload(file: string, uploads: string): Promise<string> {
  const area = await realpath(uploads).catch(() => uploads);
  if (file.includes('\0') || !path.isAbsolute(file) || !lies(path.resolve(file), uploads, area)) throw outside();
  const real = await realpath(file).catch(() => null);
  if (real === null) throw badRequest(`There is no file "${path.basename(file)}" in the upload area.`);
  if (!lies(real, area) || isOurs(path.relative(area, real))) throw outside();
  if (!(await stat(real)).isFile()) throw badRequest(`"${path.basename(file)}" is no file.`);
  return real;
}

/** The list of uploads, and what is not wholly there yet. */
const isOurs = (name: string) => name === 'manifest.jsonl' || name.split(path.sep).some((part) => part.startsWith('.'));

const lies = (file: string, ...folders: string[]) => folders.some((folder) => file.startsWith(folder + path.sep));

const outside = () => forbidden('Only files of the upload area can be sent. Upload the file first, then name its path.');
