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

/** One by one: where a file system takes no folders (`/proc`), Node's own way to make the parents too never returns. */
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

/** Where a connector first writes a file that it may write: it may write this one, too. */
export const draftOf = (file: string): string => `${file}.tmp`;

/** What is written is on the disk: as fsync would have it, which Node has no more in a process that it confines. */
const syncedWrite = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_SYNC;

/**
 * Writes a small file so that a reader sees the old or the new content, never a part, whatever happens in between. `temporary`: where it is written first; by
 * default no other process has the same name.
 */
export function writeFileAtomic(file: string, content: string, temporary = `${file}.${process.pid}.tmp`): void {
  // One of an earlier process. Whatever it is, nothing is written through it: it may be a link, or readable by others.
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

/** The result of work on a file or folder, or something else when that does not exist. Every other fault is thrown. */
export async function ifThere<T, Other>(work: Promise<T>, otherwise: Other): Promise<T | Other> {
  try {
    return await work;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return otherwise;
    throw error;
  }
}

/** The same of what is done at once. */
export function ifThereSync<T, Other>(work: () => T, otherwise: Other): T | Other {
  try {
    return work();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return otherwise;
    throw error;
  }
}

/** The text of a file; null when there is none. */
export const readIfThere = (file: string): string | null => ifThereSync(() => readFileSync(file, 'utf8'), null);

/** The names in a folder; none when there is no folder. */
export const namesIn = (folder: string): string[] => ifThereSync(() => readdirSync(folder), []);

/** A path with its links followed; of what is not there yet, the part that is. */
export function realPlace(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    const parent = path.dirname(file);
    return parent === file ? file : path.join(realPlace(parent), path.basename(file));
  }
}

/** Resolves when the names in a folder are on the disk: a file that was made, renamed or removed there is then so after a loss of power, too. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The same at once, for programs that serve nobody meanwhile. Nothing happens when there is no folder. */
export function syncFolderSync(folder: string): void {
  if (!existsSync(folder)) return;
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
