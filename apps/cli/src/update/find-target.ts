import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { UpdateChannel } from '@svc/service-kit/update/update-settings.ts';
import { chooseTarget, type Target } from './choose-target.ts';
import type { Git } from './git.ts';
import type { Version } from './journal.ts';
import { parseRemoteRefs } from './remote-refs.ts';
import { UpdateStopped, updateCodes } from './update-outcome.ts';
import { whyNotSigned } from './verify-tag.ts';

export const remote = 'origin';
const networkMs = 5 * 60_000;

export const headOf = async (git: Git): Promise<string> => (await git(['rev-parse', '--verify', 'HEAD^{commit}'])).trim();

/** The version of the code in `root`, by its version file. */
export function versionIn(root: string, commit: string): Version {
  const version = readFileSync(path.join(root, 'VERSION'), 'utf8').trim();
  return { commit, version, name: version };
}

type Wish = { channel: UpdateChannel; ref: string | null; current: Version };

/** Asks the remote for the target of a channel or ref; fetches nothing. @throws UpdateStopped when it is installed already, or does not exist */
export async function findTarget(git: Git, { channel, ref, current }: Wish): Promise<Target> {
  const listed = await orStop(git(['ls-remote', '--quiet', remote], { timeoutMs: networkMs }), 'The remote cannot be reached');
  const choice = chooseTarget({ channel, ref, refs: parseRemoteRefs(listed), current });
  if (choice.type === 'current') throw new UpdateStopped(updateCodes.current, choice.why);
  if (choice.type === 'none') throw new UpdateStopped(updateCodes.manual, choice.why);
  const { target } = choice;
  if (!target.isPinned && (await isBehind(git, target.commit)))
    throw new UpdateStopped(updateCodes.current, `The installed version is newer than ${target.name}.`);
  return target;
}

/** Whether the installed version already contains a commit. */
async function isBehind(git: Git, commit: string): Promise<boolean> {
  try {
    await git(['merge-base', '--is-ancestor', commit, 'HEAD']);
    return true;
  } catch {
    return false; // also when it is not here yet, as that of a newer version
  }
}

/**
 * Fetches the target of an update, and checks its commit and the signature of a release.
 * @throws UpdateStopped with the fault
 */
export async function fetchTarget(git: Git, target: Target, trust: { root: string; allowUnsigned: boolean }): Promise<void> {
  const { commit, ref, tag } = target;
  if (tag !== null) await refuseMovedTag(git, tag);
  const kept = `refs/svc/fetched/${tag?.name ?? 'commit'}`;
  await orStop(
    git(['fetch', '--quiet', '--no-tags', '--no-recurse-submodules', remote, `+${ref}:${kept}`], { timeoutMs: networkMs }),
    `${target.name} cannot be fetched`,
  );
  const fetched = (await git(['rev-parse', '--verify', `${kept}^{commit}`])).trim();
  if (fetched !== commit)
    throw new UpdateStopped(
      updateCodes.manual,
      `${target.name} was moved while it was fetched. Nothing was changed. Run ./svc update again.`,
    );
  const why = tag === null || trust.allowUnsigned ? null : await whyNotSigned(git, tag.name, trust.root);
  if (why !== null)
    throw new UpdateStopped(
      updateCodes.manual,
      `${target.name} is not signed by a key that may release. ${why}\nSVC_UPDATE_ALLOW_UNSIGNED=true installs releases of a fork without one.`,
    );
}

/** A tag must never change once this clone has seen it. */
async function refuseMovedTag(git: Git, { name, object }: NonNullable<Target['tag']>): Promise<void> {
  for (const ref of [`refs/tags/${name}`, `refs/svc/fetched/${name}`]) {
    const known = (await git(['for-each-ref', '--format=%(objectname)', ref])).trim();
    if (known !== '' && known !== object)
      throw new UpdateStopped(
        updateCodes.manual,
        `The remote has moved the tag ${name}: it was ${known.slice(0, 12)}, and is ${object.slice(0, 12)} now. It is not installed.`,
      );
  }
}

async function orStop(work: Promise<string>, what: string): Promise<string> {
  try {
    return await work;
  } catch (error) {
    throw new UpdateStopped(updateCodes.manual, `${what}, so nothing was changed. ${(error as Error).message}`, {
      cause: error,
      isPassing: true,
    });
  }
}
