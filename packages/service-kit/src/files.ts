import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
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

/** What is written is on the disk: as fsync would have it, which Node has no more in a process that it confines. */
const syncedWrite = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_SYNC;

/** Writes a small file so that a reader sees the old or the new content, never a part, whatever happens in between. */
export function writeFileAtomic(file: string, content: string): void {
  const temporary = `${file}.${process.pid}.tmp`;
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
