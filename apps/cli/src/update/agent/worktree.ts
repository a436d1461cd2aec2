import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { UpdatePlaces } from '@svc/service-kit/update/update-places.ts';
import { openGit, type Git } from '../git.ts';
import { UpdateStopped, updateCodes } from '../update-outcome.ts';

/** A copy of the version's files in which an engine may work. None of it runs before the updater tries it. */
export type RepairTree = {
  folder: string;
  /** The local changes of the installation, as a patch; null when there are none. */
  patchFile: string | null;
  /** The commit with the work since the last call, created if necessary; null when nothing changed. @throws UpdateStopped for a forbidden change */
  takeResult(): Promise<string | null>;
  remove(): Promise<void>;
};

/** Only people decide, in a release, who may sign releases. */
const untouchable = ['release-signers'];
const author = [
  '-c',
  'user.name=Assistant Gateway',
  '-c',
  'user.email=assistant-gateway@localhost',
  '-c',
  'commit.gpgsign=false',
];

export async function openRepairTree(places: UpdatePlaces, id: string, commit: string): Promise<RepairTree> {
  const clone = openGit(places.home);
  const place = path.join(places.folder, 'repair');
  const folder = path.join(place, id);
  await clone(['worktree', 'prune']);
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place, { recursive: true, mode: 0o700 });
  await clone(['worktree', 'add', '--quiet', '--force', '--detach', folder, commit], { timeoutMs: 600_000 });
  const patch = await ownChanges(clone, commit);
  const patchFile = patch === '' ? null : path.join(place, `${id}.patch`);
  if (patchFile !== null) writeFileSync(patchFile, patch, { mode: 0o600 });
  const before = await snapshotOf(clone, places.home);
  const tree = openGit(folder);
  let last = commit;
  return {
    folder,
    patchFile,
    async takeResult() {
      if ((await snapshotOf(clone, places.home)) !== before)
        throw refused('it changed the installation itself, and not the copy that it was given. See git status and .env there');
      const found = await commitAll(tree, commit);
      if (found === last) return null;
      last = found;
      await clone(['update-ref', `refs/svc/repaired/${id}`, found]);
      return found;
    },
    async remove() {
      rmSync(place, { recursive: true, force: true });
      await clone(['worktree', 'prune']);
    },
  };
}

/** The local changes since the installed version: commits, and uncommitted files. */
async function ownChanges(clone: Git, commit: string): Promise<string> {
  const base = (await clone(['merge-base', 'HEAD', commit]).catch(() => 'HEAD')).trim();
  return clone(['diff', '--binary', base]);
}

/** What must not change: the commit of the installation, its files, its settings. */
async function snapshotOf(clone: Git, home: string): Promise<string> {
  const dotenv = path.join(home, '.env');
  const parts = [await clone(['rev-parse', 'HEAD']), await clone(['diff', '--binary', 'HEAD'])];
  return JSON.stringify([...parts, existsSync(dotenv) ? readFileSync(dotenv, 'utf8') : null]);
}

async function commitAll(tree: Git, from: string): Promise<string> {
  await tree(['add', '--all']);
  if ((await tree(['status', '--porcelain=v1', '--untracked-files=no'])) !== '')
    await tree([...author, 'commit', '--quiet', '--no-verify', '-m', 'Repair this version for this installation']);
  const found = (await tree(['rev-parse', 'HEAD'])).trim();
  const isOnTop = await tree(['merge-base', '--is-ancestor', from, found]).then(
    () => true,
    () => false,
  );
  if (!isOnTop) throw refused('what it made is not built on the version that it was given');
  const touched = (await tree(['diff', '--name-only', from, found, '--', ...untouchable])).trim();
  if (touched !== '') throw refused(`it changed ${touched.split('\n').join(', ')}`);
  return found;
}

const refused = (why: string): UpdateStopped =>
  new UpdateStopped(updateCodes.manual, `The change of the engine is not installed: ${why}.`);
