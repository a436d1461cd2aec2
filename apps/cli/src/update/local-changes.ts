import type { Git } from './git.ts';

/** Files of the clone that a person has changed; new ones that git does not know are not in the way. Renames count as both names. */
export async function changedFiles(git: Git): Promise<string[]> {
  const text = await git(['status', '--porcelain=v1', '-z', '--untracked-files=no', '--no-renames', '--ignore-submodules']);
  return text.split('\0').flatMap((entry) => (entry.length > 3 ? [entry.slice(3)] : []));
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
