import path from 'node:path';
import { dataPaths } from '../config/data-dir.ts';

/** The places of a restore under the data folder, on the same file system, so that files move by renaming. */
export type RestorePaths = {
  root: string;
  folder: string;
  /** A checked backup that the next start applies: `plan.json` and `files`. */
  pending: string;
  /** The state that the last restore replaced. It is removed at the start after a successful one. */
  replaced: string;
  /** The state that an undo replaced. It is removed at once. */
  discarded: string;
  /** Exists while names are being swapped; the next start completes the swap. */
  journal: string;
  /** Exists when an undo was requested. */
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

/** In `replaced`: exists once a core has run on the restored state. */
export const startedIn = (folder: string): string => path.join(folder, 'started');

/** In `pending` and `replaced`: its plan, and the files and folders that belong in the data folder. */
export const planIn = (folder: string): string => path.join(folder, 'plan.json');
export const filesIn = (folder: string): string => path.join(folder, 'files');
