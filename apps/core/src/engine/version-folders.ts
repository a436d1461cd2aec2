import { existsSync, lstatSync, mkdirSync, readdirSync, readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { isVersion } from './npm.ts';

/**
 * The installed versions of one engine: a folder each, and the pointer `current`. A version is installed under a
 * temporary name and renamed when it is complete, so an interrupted install is never mistaken for it.
 */
export type VersionFolders = {
  folderOf(version: string): string;
  has(version: string): boolean;
  /** All installed versions. */
  all(): string[];
  /** The version that the pointer names; null when there is none, or it is a folder that someone made by hand. */
  current(): string | null;
  /** An empty folder to install into. Leftovers of earlier attempts are removed. */
  newStaging(): string;
  /** The staged version is complete: gives it its own folder. */
  adopt(staging: string, version: string): void;
  /** Points `current` at a version, in one step. A folder made by hand is kept beside. */
  point(version: string): void;
  /** Removes the pointer: the engine is then found elsewhere, or not at all. */
  unpoint(): void;
  remove(version: string): void;
  /** Removes every version but these. */
  keepOnly(versions: readonly (string | null)[]): void;
};

export function versionFolders(enginesDir: string, id: string): VersionFolders {
  const root = path.join(enginesDir, id);
  const pointer = path.join(root, 'current');
  const folderOf = (version: string) => path.join(root, version);

  return {
    folderOf,
    has: (version: string): boolean => existsSync(folderOf(version)),
    all: (): string[] => (existsSync(root) ? readdirSync(root).filter(isVersion) : []),

    current(): string | null {
      const stat = lstatSync(pointer, { throwIfNoEntry: false });
      const name = stat?.isSymbolicLink() === true ? path.basename(readlinkSync(pointer)) : '';
      return isVersion(name) && existsSync(folderOf(name)) ? name : null;
    },

    newStaging(): string {
      mkdirSync(root, { recursive: true, mode: 0o700 });
      for (const name of readdirSync(root)) {
        if (name.startsWith(stagingPrefix)) rmSync(path.join(root, name), { recursive: true, force: true });
      }
      const staging = path.join(root, `${stagingPrefix}${process.pid}`);
      mkdirSync(staging, { mode: 0o700 });
      return staging;
    },

    adopt(staging: string, version: string): void {
      rmSync(folderOf(version), { recursive: true, force: true });
      renameSync(staging, folderOf(version));
    },

    point(version: string): void {
      const next = path.join(root, `.next-${process.pid}`);
      rmSync(next, { force: true });
      symlinkSync(version, next);
      if (lstatSync(pointer, { throwIfNoEntry: false })?.isDirectory() === true) renameSync(pointer, freeName(root));
      renameSync(next, pointer);
    },

    unpoint: (): void => rmSync(pointer, { force: true }),

    remove: (version: string): void => rmSync(folderOf(version), { recursive: true, force: true }),

    keepOnly(versions: readonly (string | null)[]): void {
      for (const name of readdirSync(root)) {
        if (isVersion(name) && !versions.includes(name)) rmSync(folderOf(name), { recursive: true, force: true });
      }
    },
  };
}

const stagingPrefix = '.installing-';

function freeName(root: string): string {
  for (let n = 1; ; n++) {
    const name = path.join(root, `by-hand-${n}`);
    if (!existsSync(name)) return name;
  }
}
