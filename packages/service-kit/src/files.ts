import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';

/** Creates a folder (and its parents) that only its owner can enter. */
export function makePrivateDir(dir: string): void {
  makeFolders(dir);
  chmodSync(dir, 0o700);
}

/** One by one, because Node's `recursive` never returns on a file system without folders to create (`/proc`). */
function makeFolders(dir: string): void {
  try {
    mkdirSync(dir, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && statSync(dir).isDirectory()) return;
    const parent = path.dirname(dir);
    if (code !== 'ENOENT' || existsSync(parent)) throw error;
    makeFolders(parent);
    mkdirSync(dir, { mode: 0o700 });
  }
}

/** The draft that a connector writes before it replaces a file; it may write both. */
export const draftOf = (file: string): string => `${file}.tmp`;

/** Writes are synced to disk as by fsync, which Node does not allow in a process with the permission model. */
const syncedWrite = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_SYNC;

/**
 * Writes a small file atomically: a reader sees the old or the new content, never a part, whatever happens in between. `temporary`: where it is written
 * first; the default name is unique to this process.
 */
export function writeFileAtomic(file: string, content: string, temporary = `${file}.${process.pid}.tmp`): void {
  // Left by an earlier process. It is not written to, because it may be a link, or readable by others.
  rmSync(temporary, { force: true });
  try {
    const fd = openSync(temporary, syncedWrite, 0o600);
    try {
      writeFileSync(fd, content);
    } finally {
      closeSync(fd);
    }
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** The result of work on a file or folder, or `otherwise` if it does not exist. Any other error is thrown. */
export async function ifThere<T, Other>(work: Promise<T>, otherwise: Other): Promise<T | Other> {
  try {
    return await work;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return otherwise;
    throw error;
  }
}

/** The same for synchronous work. */
export function ifThereSync<T, Other>(work: () => T, otherwise: Other): T | Other {
  try {
    return work();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return otherwise;
    throw error;
  }
}

/** The text of a file; null if it does not exist. */
export const readIfThere = (file: string): string | null => ifThereSync(() => readFileSync(file, 'utf8'), null);

/** The names in a folder; empty if it does not exist. */
export const namesIn = (folder: string): string[] => ifThereSync(() => readdirSync(folder), []);

/** The real path; of a path that does not exist yet, only the existing part is resolved. */
export function realPlace(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    const parent = path.dirname(file);
    return parent === file ? file : path.join(realPlace(parent), path.basename(file));
  }
}

/** Resolves when the entries of a folder are on disk, so that a created, renamed or removed file stays so after a power failure. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The same synchronously, for programs that serve no requests meanwhile. Does nothing if the folder does not exist. */
export function syncFolderSync(folder: string): void {
  if (!existsSync(folder)) return;
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
