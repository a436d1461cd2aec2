import { watch, type FSWatcher } from 'node:fs';
import { lstat } from 'node:fs/promises';
import path from 'node:path';

const maxWatched = 500;

type Watched = { watcher: FSWatcher; made: string };

/** Notices of what changes in folders, by a name of one's own for each. Bounded; what is too much is not watched. */
export type FolderWatchers = {
  has(id: string): boolean;
  /**
   * `onName`: something of this name changed in the folder; null when the system does not say what. A new folder of the same
   * name (`made` differs) is watched in place of the old one, of which no notice comes any more. False when it cannot be watched.
   */
  add(id: string, dir: string, onName: (name: string | null) => void, made?: string): boolean;
  remove(id: string): void;
  /** Ends all but these. */
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
        return false; // the system has no more to give, or the folder is gone
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

/** The nearest folder above a place that is there. */
export async function nearestFolder(place: string): Promise<string> {
  const parent = path.dirname(place);
  return parent === place || (await isFolderHere(parent)) ? parent : nearestFolder(parent);
}

export const isFolderHere = (dir: string): Promise<boolean> =>
  lstat(dir).then(
    (stat) => stat.isDirectory(),
    () => false,
  );
