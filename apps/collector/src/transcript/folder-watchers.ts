import { watch, type FSWatcher } from 'node:fs';
import { lstat } from 'node:fs/promises';
import path from 'node:path';

const maxWatched = 500;

/** Notices of what changes in folders, by a name of one's own for each. Bounded; what is too much is not watched. */
export function createFolderWatchers() {
  const watchers = new Map<string, FSWatcher>();
  let isBlind = false;
  let isClosed = false;

  const remove = (id: string) => {
    watchers.get(id)?.close();
    watchers.delete(id);
  };
  return {
    /** True once a folder could not be watched. */
    get isBlind() {
      return isBlind;
    },
    /** `onName`: something of this name changed in the folder; null when the system does not say what. */
    add(id: string, dir: string, onName: (name: string | null) => void): void {
      if (watchers.has(id) || isClosed) return;
      try {
        if (watchers.size >= maxWatched) throw new Error('too many folders');
        const watcher = watch(dir, { persistent: false }, (_event, name) => onName(name));
        watcher.on('error', () => remove(id));
        watchers.set(id, watcher);
      } catch {
        isBlind = true; // the system, or we, have no more to give
      }
    },
    remove,
    close(): void {
      isClosed = true;
      for (const id of watchers.keys()) remove(id);
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
