import { watch, type FSWatcher } from 'node:fs';
import { lstat } from 'node:fs/promises';
import path from 'node:path';

const maxWatched = 500;

type Watched = { watcher: FSWatcher; made: string };

/** Watches folders for changes, each under an id. Limited; further folders are not watched. */
export type FolderWatchers = {
  has(id: string): boolean;
  /**
   * `onName`: called with the name that changed in the folder; null if the system does not report it. A new folder with the same
   * path (`made` differs) replaces the old one, which reports nothing any more. False if it cannot be watched.
   */
  add(id: string, dir: string, onName: (name: string | null) => void, made?: string): boolean;
  remove(id: string): void;
  /** Stops watching all but these. */
  keep(ids: ReadonlySet<string>): void;
  close(): void;
};

export function createFolderWatchers(): FolderWatchers {
  const watched = new Map<string, Watched>();
  let isClosed = false;

  const remove = (id: string) => {
    watched.get(id)?.watcher.close();
    watched.delete(id);
  };
  return {
    has: (id) => watched.has(id),
    add(id, dir, onName, made = '') {
      if (isClosed || watched.get(id)?.made === made) return true;
      remove(id);
      if (watched.size >= maxWatched) return false;
      try {
        const watcher = watch(dir, { persistent: false }, (_event, name) => onName(name));
        watcher.on('error', () => remove(id));
        watched.set(id, { watcher, made });
        return true;
      } catch {
        return false; // the system's limit is reached, or the folder no longer exists
      }
    },
    remove,
    keep(ids) {
      for (const id of watched.keys()) if (!ids.has(id)) remove(id);
    },
    close() {
      isClosed = true;
      for (const id of watched.keys()) remove(id);
    },
  };
}

/** The nearest existing folder above a path. */
export async function nearestFolder(place: string): Promise<string> {
  const parent = path.dirname(place);
  return parent === place || (await isFolderHere(parent)) ? parent : nearestFolder(parent);
}

export const isFolderHere = (dir: string): Promise<boolean> =>
  lstat(dir).then(
    (stat) => stat.isDirectory(),
    () => false,
  );
