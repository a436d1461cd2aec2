import { existsSync, readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { makePrivateDir, writeFileAtomic, syncFolderSync, ifThereSync } from '@svc/service-kit/files.ts';
import { readJsonFile } from '@svc/service-kit/json/read-json-file.ts';
import type { UpdatePlaces } from '@svc/service-kit/update/update-places.ts';

type Places = Pick<UpdatePlaces, 'pointer' | 'versions' | 'folder' | 'trial' | 'reverted'>;

/** The commit of the version that runs instead of the clone; null when the clone itself runs. */
export const readPointer = ({ pointer }: Pick<Places, 'pointer'>): string | null =>
  ifThereSync(() => path.basename(readlinkSync(pointer)), null);

/** Selects another version from the next start on, by one rename, so that the pointer always exists. */
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

/** A version that runs unconfirmed. `from`: the version to go back to; null means the clone itself. */
export type Trial = { from: string | null; to: string };

/** Puts a version in place on trial; `revertTrial` takes it back when it does not work. */
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

/** Ends the trial: the version stays. */
export function confirmTrial({ trial, folder }: Places): void {
  rmSync(trial, { force: true });
  syncFolderSync(folder);
}

/** Selects the previous version from the next start on. False when there is no trial, or its version was never put in place. */
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

/** The previous version must start even when the disk cannot store the reason. */
function noteWhy({ reverted }: Places, why: string): void {
  try {
    writeFileAtomic(reverted, `${why}\n`);
  } catch (error) {
    process.stderr.write(`Why the new version was rolled back could not be recorded (${(error as Error).message}): ${why}\n`);
  }
}
