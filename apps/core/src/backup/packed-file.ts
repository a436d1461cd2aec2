import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';

/** A file to be packed. Of one that only ever grows exactly the first `bytes` are taken. */
export type PackedFile = { name: string; file: string; bytes: number; grows?: true };

/** In order of their names; none where there is no folder. */
export async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Null for what is gone, or no plain file. */
export async function sized(name: string, file: string): Promise<PackedFile | null> {
  try {
    const found = await lstat(file);
    return found.isFile() ? { name, file, bytes: found.size } : null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
