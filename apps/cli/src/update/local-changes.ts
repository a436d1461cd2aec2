import { lstatSync } from 'node:fs';
import path from 'node:path';
import type { Git } from './git.ts';

/** Files of the clone that a person has changed; new ones that git does not know are another matter (`filesInTheWay`). Renames count as both names. */
export async function changedFiles(git: Git): Promise<string[]> {
  const text = await git(['status', '--porcelain=v1', '-z', '--untracked-files=no', '--no-renames', '--ignore-submodules']);
  return text.split('\0').flatMap((entry) => (entry.length > 3 ? [entry.slice(3)] : []));
}

const mostAsked = 200;

/** Files of a person, ignored ones as well, in places where a version has files of its own: git would put these over them without a word. */
export async function filesInTheWay(git: Git, home: string, commit: string): Promise<string[]> {
  const known = new Set(namesIn(await git(['ls-files', '-z'])));
  const wanted = namesIn(await git(['ls-tree', '-r', '-z', '--name-only', commit]));
  const taken = new Set(wanted.filter((name) => !known.has(name)).flatMap((name) => whatIsAt(home, name, known) ?? []));
  const places = [...taken];
  const found: string[] = [];
  for (let at = 0; at < places.length; at += mostAsked) {
    const some = places.slice(at, at + mostAsked);
    found.push(...namesIn(await git(['--literal-pathspecs', 'ls-files', '--others', '-z', '--', ...some])));
  }
  return found;
}

const namesIn = (text: string): string[] => text.split('\0').filter((name) => name !== '');

/** The place of a file that is to be made, or what stands where a folder of it would be; null when nothing does, or what git knows. */
function whatIsAt(home: string, name: string, known: ReadonlySet<string>): string | null {
  const parts = name.split('/');
  for (let depth = 1; depth <= parts.length; depth += 1) {
    const place = parts.slice(0, depth).join('/');
    const there = lstatSync(path.join(home, place), { throwIfNoEntry: false });
    if (there === undefined || known.has(place)) return null;
    if (depth === parts.length || !there.isDirectory()) return place;
  }
  return null;
}

/** Commits of the clone that no branch and no tag of the remote has: a person's own. */
export async function ownCommits(git: Git, remote: string): Promise<number> {
  const count = await git(['rev-list', '--count', 'HEAD', '--not', `--remotes=${remote}`, '--glob=refs/svc/fetched', '--tags']);
  return Number(count.trim());
}

/** Keeps what a person has changed, and commits of their own, under a name; gives the name, null when there is nothing. */
export async function keepOwnWork(git: Git, id: string): Promise<string | null> {
  const stash = (await git(['stash', 'create', 'changes from before an update'])).trim();
  const commit = stash === '' ? 'HEAD' : stash;
  const name = `refs/svc/kept/${id}`;
  await git(['update-ref', name, commit]);
  return name;
}
