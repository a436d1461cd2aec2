import path from 'node:path';
import { dataPaths } from '../config/data-dir.ts';

/** Where a restore lies under the data folder, all on one file system so that it comes and goes by renaming. */
export type RestorePaths = {
  root: string;
  folder: string;
  /** A checked backup that the next start puts in place: `plan.json` and `files`. */
  pending: string;
  /** What the last restore put aside, until the start after one that went well. */
  replaced: string;
  /** What an undo put aside. It is removed at once. */
  discarded: string;
  /** Here while names are being swapped: the next start ends it. */
  journal: string;
  /** Here when the replaced state is wanted back. */
  undo: string;
};

export function restorePaths(dataDir: string): RestorePaths {
  const folder = dataPaths(dataDir).restore;
  const at = (name: string) => path.join(folder, name);
  return {
    root: dataDir,
    folder,
    pending: at('pending'),
    replaced: at('replaced'),
    discarded: at('discarded'),
    journal: at('journal.json'),
    undo: at('undo'),
  };
}

/** In `replaced`: a core has run on what took its place. */
export const startedIn = (folder: string): string => path.join(folder, 'started');

/** In `pending` and `replaced`: what it is, and the files and folders that belong into the data folder. */
export const planIn = (folder: string): string => path.join(folder, 'plan.json');
export const filesIn = (folder: string): string => path.join(folder, 'files');
