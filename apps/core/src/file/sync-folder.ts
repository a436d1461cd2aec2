import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

/** Resolves when the names in a folder are on the disk: a file that was made, renamed or removed there is then so after a loss of power, too. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
