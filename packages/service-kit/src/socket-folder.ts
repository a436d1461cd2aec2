import { lstatSync, mkdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { makePrivateDir } from './files.ts';

/**
 * Makes the folder of a socket, which only this user may enter. When the path of the data folder is too long for a socket, it is
 * in the folder of temporary files, to which others write. There it must belong to this user, or another user who made it first
 * could pose as the core.
 * @throws Error with a message for the operator
 */
export function makeSocketFolder(dir: string): void {
  if (isShared(path.dirname(dir))) makeOwn(dir);
  makePrivateDir(dir);
}

const othersMayWrite = 0o002;
const isShared = (place: string): boolean => ((statSync(place, { throwIfNoEntry: false })?.mode ?? 0) & othersMayWrite) !== 0;

function makeOwn(dir: string): void {
  try {
    mkdirSync(dir, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const found = lstatSync(dir);
  if (found.isDirectory() && found.uid === process.getuid?.()) return;
  throw new Error(
    `${dir} is not a folder of this user: another one may have put it there. Remove it, or give SVC_DATA_DIR a shorter path.`,
  );
}
