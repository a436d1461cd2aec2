import path from 'node:path';
import type { UpdatePlaces } from '@svc/service-kit/update/update-places.ts';
import { mainBranch } from './choose-target.ts';
import { fetchTarget, findTarget, headOf, remote, versionIn } from './find-target.ts';
import { openGit, type Git } from './git.ts';
import { writeJournal, type Version } from './journal.ts';
import { changedFiles, filesInTheWay, keepOwnWork, ownCommits } from './local-changes.ts';
import { settleClone } from './settle-clone.ts';
import { UpdateStopped, updateCodes } from './update-outcome.ts';
import { makeVersion, removeVersion } from './version-folder.ts';
import type { VersionSource } from './version-source.ts';

type Clone = {
  places: UpdatePlaces;
  /** The running code, whose list of signers counts. */
  root: string;
  allowUnsigned: boolean;
};

/** Versions of a clone, fetched from its remote. */
export function openGitSource({ places, root, allowUnsigned }: Clone): VersionSource {
  const git = openGit(places.home);
  return {
    installed: (folder) => installedIn(folder, places, git),
    find: (wish) => findTarget(git, wish),
    fetch: (target) => fetchTarget(git, target, { root, allowUnsigned }),
    whyNotYet: async () => null,
    make: (commit, like) => makeVersion({ places, git, commit, like }),
    remove: (commit) => removeVersion(places, git, commit),
    keepOwnWork: (isEdge, id) => keepWhatIsOwn(git, isEdge, id),

    async settle(journal) {
      const { id, to, isEdge } = journal;
      if (journal.phase !== 'settling') {
        const changed = await changedFiles(git);
        const inTheWay = await filesInTheWay(git, places.home, to.commit);
        if (inTheWay.length > 0)
          return `This folder has files of yours where ${to.name} has some of its own (${listed(inTheWay)}), so its files stay as they are; ${to.name} runs from .runtime/versions. Move yours away, and run ./svc update again.`;
        if (changed.length > 0 && !isEdge)
          return `This folder has changes of yours (${changed[0]}), so its files stay as they are; ${to.name} runs from .runtime/versions.`;
        if (changed.length > 0) await keepOwnWork(git, `${id}-later`);
        writeJournal(places, { ...journal, phase: 'settling' });
      }
      await settleClone({ places, git, commit: to.commit, branch: isEdge ? await branchOf(git) : null });
      return null;
    },
    canSettleLate: async (commit) =>
      (await changedFiles(git)).length === 0 && (await filesInTheWay(git, places.home, commit)).length === 0,
  };
}

/** Versions are named by their commits: after a clone was moved, git no longer knows their worktrees. */
async function installedIn(folder: string, places: UpdatePlaces, git: Git): Promise<Version> {
  if (path.relative(places.versions, path.dirname(folder)) === '') return versionIn(folder, path.basename(folder));
  return versionIn(folder, await headOf(path.relative(folder, places.home) === '' ? git : openGit(folder)));
}

/** Local changes in the clone are never lost: they stop an update to a release, and an update to the main branch stashes them under a name. */
async function keepWhatIsOwn(git: Git, isEdge: boolean, id: string): Promise<string | null> {
  const changed = await changedFiles(git);
  const commits = await ownCommits(git, remote);
  if (changed.length === 0 && commits === 0) return null;
  if (isEdge) {
    const name = await keepOwnWork(git, id);
    return `Your own changes are kept as ${name}; "git stash apply ${name}" or "git cherry-pick" brings them back.`;
  }
  if (changed.length === 0) return null; // commits stay on their branch
  throw new UpdateStopped(
    updateCodes.manual,
    `Files of this folder have changes of yours, which an update would replace: ${listed(changed)}.\nKeep them (git stash, or git commit on a branch) and run ./svc update again, or have your engine bring them over: ./svc update --mode agent.`,
    { isOfFiles: true },
  );
}

const listed = (names: readonly string[]): string =>
  names.length <= 8 ? names.join(', ') : `${names.slice(0, 8).join(', ')} and ${names.length - 8} more`;

/** The branch of the clone that follows the remote's; null on another branch, or on none. */
async function branchOf(git: Git): Promise<string | null> {
  const name = (await git(['rev-parse', '--abbrev-ref', 'HEAD'])).trim();
  return name === mainBranch ? name : null;
}
