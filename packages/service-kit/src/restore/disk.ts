import { closeSync, existsSync, fsyncSync, openSync, readFileSync } from 'node:fs';

/** What a JSON file holds; null when there is none or it is damaged. */
export function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Makes the names in a folder safe from a loss of power. */
export function syncFolder(folder: string): void {
  if (!existsSync(folder)) return;
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
