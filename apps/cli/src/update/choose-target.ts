import { compareVersions, newestRelease } from './release-tag.ts';
import type { RemoteRefs } from './remote-refs.ts';

/** `stable`: the newest release. `edge`: the newest commit of the main branch. */
export type Channel = 'stable' | 'edge';

/** The target of an update. `tag`: the tag by which it was chosen, whose signature is then required. */
export type Target = {
  commit: string;
  /** The name for people: `v1.2.0`, `main`, or the requested ref. */
  name: string;
  /** What to fetch: a full ref, or the commit. */
  ref: string;
  tag: { name: string; object: string } | null;
  /** Requested by name, so it may be older than the running version. */
  isPinned: boolean;
};

export type Choice = { type: 'target'; target: Target } | { type: 'current'; why: string } | { type: 'none'; why: string };

type Wish = {
  channel: Channel;
  /** Overrides the channel. */
  ref: string | null;
  refs: RemoteRefs;
  /** The installed version. */
  current: { commit: string; version: string };
};

/** Resolves the channel or the requested ref to a target. A tag takes precedence over a branch of the same name. */
export function chooseTarget({ channel, ref, refs, current }: Wish): Choice {
  if (ref !== null) return isCurrent(pinned(ref, refs), current.commit);
  return channel === 'edge' ? isCurrent(headOfMain(refs), current.commit) : newestTag(refs, current);
}

function newestTag(refs: RemoteRefs, current: Wish['current']): Choice {
  const release = newestRelease([...refs.tags.keys()]);
  const found = release === null ? undefined : refs.tags.get(release.tag);
  if (release === null || found === undefined)
    return { type: 'none', why: 'The remote has no release yet. To follow its main branch: ./svc update --channel edge' };
  const tag = { name: release.tag, object: found.object };
  // A remote that lost or hides its newest tags must not take an installation back to a version with known faults.
  if (compareVersions(release.version, current.version) < 0)
    return {
      type: 'current',
      why: `The newest release of the remote is ${release.tag}, older than what is installed (${current.version}).`,
    };
  return isCurrent(
    {
      type: 'target',
      target: { commit: found.commit, name: release.tag, ref: `refs/tags/${release.tag}`, tag, isPinned: false },
    },
    current.commit,
  );
}

export const mainBranch = 'main';

function headOfMain({ branches }: RemoteRefs): Choice {
  const commit = branches.get(mainBranch);
  if (commit === undefined) return { type: 'none', why: `The remote has no branch "${mainBranch}".` };
  return { type: 'target', target: { commit, name: mainBranch, ref: `refs/heads/${mainBranch}`, tag: null, isPinned: false } };
}

function pinned(ref: string, { tags, branches }: RemoteRefs): Choice {
  const tag = tags.get(ref);
  if (tag !== undefined)
    return {
      type: 'target',
      target: { commit: tag.commit, name: ref, ref: `refs/tags/${ref}`, tag: { name: ref, object: tag.object }, isPinned: true },
    };
  const head = branches.get(ref);
  if (head !== undefined) return pinnedTo(ref, `refs/heads/${ref}`, head);
  if (/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(ref)) return pinnedTo(ref, ref, ref);
  return {
    type: 'none',
    why: `"${ref}" is neither a tag nor a branch of the remote, nor the full id of a commit. What can be asked for: ./svc update --help`,
  };
}

const pinnedTo = (name: string, ref: string, commit: string): Choice => ({
  type: 'target',
  target: { commit, name, ref, tag: null, isPinned: true },
});

const isCurrent = (choice: Choice, commit: string): Choice =>
  choice.type === 'target' && choice.target.commit === commit
    ? { type: 'current', why: `${choice.target.name} is already installed.` }
    : choice;
