import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '@svc/service-kit/clock.ts';

/** Returns the root of the git repository that contains a path; null if there is none. Never throws. */
export type GitRoots = { rootOf(file: string): Promise<string | null> };

type Known = { root: Promise<string | null>; at: number };

/** A repository may be created or removed at any time, so results expire. */
const trustMs = 60_000;
const maxKnown = 5000;
const maxLevels = 64;

/**
 * Searches for `.git` (a folder, or the file of a work tree) from a path upwards. The result of every folder on the way is
 * cached, so the files of one repository need one walk.
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
  // The path itself may be the root of a repository; for a file the first check simply fails.
  return { rootOf: (file) => rootFrom(file, maxLevels) };
}

const exists = async (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    () => false,
  );
