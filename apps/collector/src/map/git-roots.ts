import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '@svc/service-kit/clock.ts';

/** Gives the root of the git repository that a path lies in; null when there is none. Never throws. */
export type GitRoots = { rootOf(file: string): Promise<string | null> };

type Known = { root: Promise<string | null>; at: number };

/** A repository may be made or removed at any time, so what was found is looked at again. */
const trustMs = 60_000;
const maxKnown = 5000;
const maxLevels = 64;

/**
 * Looks for `.git` (a folder, or the file of a work tree) from a path upwards. Every folder on the way is remembered, so
 * the files of one repository cost one walk.
 */
export function createGitRoots(clock: Pick<Clock, 'elapsed'>): GitRoots {
  const known = new Map<string, Known>();

  const rootFrom = (folder: string, levels: number): Promise<string | null> => {
    const found = known.get(folder);
    if (found !== undefined && clock.elapsed() - found.at < trustMs) return found.root;
    const root = look(folder, levels);
    if (known.size >= maxKnown) known.clear();
    known.set(folder, { root, at: clock.elapsed() });
    return root;
  };
  const look = async (folder: string, levels: number): Promise<string | null> => {
    if (await exists(path.join(folder, '.git'))) return folder;
    const parent = path.dirname(folder);
    return parent === folder || levels === 0 ? null : rootFrom(parent, levels - 1);
  };
  // The path itself may be the folder of a repository, or a file: a file has no `.git` in it.
  return { rootOf: (file) => rootFrom(file, maxLevels) };
}

const exists = async (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    () => false,
  );
