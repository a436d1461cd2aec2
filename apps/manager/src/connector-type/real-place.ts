import { realpathSync } from 'node:fs';
import path from 'node:path';

/** A path with its links followed; of what is not there yet, the part that is. */
export function realPlace(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    const parent = path.dirname(file);
    return parent === file ? file : path.join(realPlace(parent), path.basename(file));
  }
}

export const isInside = (file: string, folder: string): boolean =>
  file === folder || file.startsWith(folder === '/' ? folder : `${folder}/`);
