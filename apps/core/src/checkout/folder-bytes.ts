import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import { ifThere } from '@svc/service-kit/files.ts';

/** The total size of the files in a folder and below, in bytes. Files that disappear meanwhile are not counted. */
export async function folderBytes(folder: string): Promise<number> {
  const entries = await ifThere(readdir(folder, { withFileTypes: true }), []);
  let bytes = 0;
  for (const entry of entries) {
    const file = path.join(folder, entry.name);
    bytes += entry.isDirectory() ? await folderBytes(file) : (await ifThere(lstat(file), { size: 0 })).size;
  }
  return bytes;
}
