import { existsSync, readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { makePrivateDir, writeFileAtomic, syncFolderSync, ifThereSync } from '@svc/service-kit/files.ts';
import { readJsonFile } from '@svc/service-kit/json/read-json-file.ts';
import type { UpdatePlaces } from '@svc/service-kit/update/update-places.ts';

type Places = Pick<UpdatePlaces, 'pointer' | 'versions' | 'folder' | 'trial' | 'reverted'>;

/** The commit of the version that runs in the clone's place; null when the clone runs itself. */
export const readPointer = ({ pointer }: Pick<Places, 'pointer'>): string | null =>
  ifThereSync(() => path.basename(readlinkSync(pointer)), null);

/** Has another version run from the next start on: by one rename, so that there is always one. */
export function setPointer({ pointer, versions }: Pick<Places, 'pointer' | 'versions'>, commit: string | null): void {
  const folder = path.dirname(pointer);
  if (commit === null) rmSync(pointer, { force: true });
  else {
    const next = `${pointer}.new`;
    rmSync(next, { force: true });
    symlinkSync(path.join(path.basename(versions), commit), next);
    renameSync(next, pointer);
  }
  syncFolderSync(folder);
}

/** A version that runs without being confirmed yet. `from`: what runs again if it fails; null is the clone itself. */
export type Trial = { from: string | null; to: string };

/** Puts a version in place, on trial: one that does not work is taken back by `revertTrial`. */
export function beginTrial(places: Places, to: string): void {
  const trial: Trial = { from: readPointer(places), to };
  makePrivateDir(places.folder);
  rmSync(places.reverted, { force: true });
  writeFileAtomic(places.trial, JSON.stringify(trial));
  syncFolderSync(places.folder);
  setPointer(places, to);
}

export const readTrial = ({ trial }: Pick<Places, 'trial'>): Trial | null =>
  existsSync(trial) ? (readJsonFile(trial) as Trial | null) : null;

/** The version stays. */
export function confirmTrial({ trial, folder }: Places): void {
  rmSync(trial, { force: true });
  syncFolderSync(folder);
}

/** Has the version from before run again from the next start on. False when there is no trial, or its version was not even put in place. */
export function revertTrial(places: Places, why: string): boolean {
  const trial = readTrial(places);
  if (trial === null) return false;
  const wasInPlace = readPointer(places) === trial.to;
  setPointer(places, trial.from);
  if (wasInPlace) noteWhy(places, why);
  rmSync(places.trial, { force: true });
  syncFolderSync(places.folder);
  return wasInPlace;
}

/** The version from before has to start also where the disk takes no note. */
function noteWhy({ reverted }: Places, why: string): void {
  try {
    writeFileAtomic(reverted, `${why}\n`);
  } catch (error) {
    process.stderr.write(`Why the new version was rolled back could not be recorded (${(error as Error).message}): ${why}\n`);
  }
}
