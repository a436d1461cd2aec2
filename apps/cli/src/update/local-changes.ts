import { lstatSync } from 'node:fs';
import path from 'node:path';
import type { Git } from './git.ts';

/** Tracked files of the clone that a person has changed; for untracked ones see `filesInTheWay`. A rename counts as both names. */
export async function changedFiles(git: Git): Promise<string[]> {
  const text = await git(['status', '--porcelain=v1', '-z', '--untracked-files=no', '--no-renames', '--ignore-submodules']);
  return text.split('\0').flatMap((entry) => (entry.length > 3 ? [entry.slice(3)] : []));
}

const mostAsked = 200;

/** Untracked files of a person, ignored ones included, where a version has its own files: git would overwrite these silently. */
export async function filesInTheWay(git: Git, home: string, commit: string): Promise<string[]> {
  const known = new Set(namesIn(await git(['ls-files', '-z'])));
  const wanted = namesIn(await git(['ls-tree', '-r', '-z', '--name-only', commit]));
  const taken = new Set(wanted.filter((name) => !known.has(name)).flatMap((name) => obstacleAt(home, name, known) ?? []));
  const places = [...taken];
  const found: string[] = [];
  for (let at = 0; at < places.length; at += mostAsked) {
    const some = places.slice(at, at + mostAsked);
    found.push(...namesIn(await git(['--literal-pathspecs', 'ls-files', '--others', '-z', '--', ...some])));
  }
  return found;
}

const namesIn = (text: string): string[] => text.split('\0').filter((name) => name !== '');

/** The path of a new file, or of what blocks one of its folders; null when nothing is there, or git tracks it. */
function obstacleAt(home: string, name: string, known: ReadonlySet<string>): string | null {
  const parts = name.split('/');
  for (let depth = 1; depth <= parts.length; depth += 1) {
    const place = parts.slice(0, depth).join('/');
    const there = lstatSync(path.join(home, place), { throwIfNoEntry: false });
    if (there === undefined || known.has(place)) return null;
    if (depth === parts.length || !there.isDirectory()) return place;
  }
  return null;
}

/** Commits of the clone that no branch or tag of the remote has: a person's own. */
export async function ownCommits(git: Git, remote: string): Promise<number> {
  const count = await git(['rev-list', '--count', 'HEAD', '--not', `--remotes=${remote}`, '--glob=refs/svc/fetched', '--tags']);
  return Number(count.trim());
}

/** Stashes local changes and commits under a name; returns the name, or null when there are none. */
export async function keepOwnWork(git: Git, id: string): Promise<string | null> {
  const stash = (await git(['stash', 'create', 'changes from before an update'])).trim();
  const commit = stash === '' ? 'HEAD' : stash;
  const name = `refs/svc/kept/${id}`;
  await git(['update-ref', name, commit]);
  return name;
}
