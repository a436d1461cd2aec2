import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { syncDisk } from '@svc/service-kit/restore/sync-disk.ts';
import type { UpdatePlaces } from '@svc/service-kit/update/update-places.ts';
import { builtFolders } from './build-web-apps.ts';
import type { Git } from './git.ts';
import { isFolder, linkTree } from './link-tree.ts';
import { setPointer } from './pointer.ts';
import { foreignEnv } from './program-env.ts';
import { putWrapper } from './put-wrapper.ts';
import { namesSamePackages, nodeModulesOf, putCopy, versionFolder } from './version-folder.ts';

type Settling = {
  places: UpdatePlaces;
  /** Runs git in the clone. */
  git: Git;
  commit: string;
  /** The branch to move to the commit; null leaves every branch as it is. */
  branch: string | null;
};

/**
 * Updates the clone to the version that runs instead of it: its files, its dependencies, its Node. The pointer is removed last, so that an
 * interruption leaves a version that starts. May be repeated. Requires a clone without local changes or files in the way.
 */
export async function settleClone({ places, git, commit, branch }: Settling): Promise<void> {
  const folder = versionFolder(places, commit);
  // Only one update runs at a time, so a lock of git is left from an interrupted one.
  rmSync(path.resolve(places.home, (await git(['rev-parse', '--git-path', 'index.lock'])).trim()), { force: true });
  putWrapper(places.home, folder);
  await noteWrapper(git, commit);
  await git(['checkout', '--quiet', '--force', ...(branch === null ? ['--detach'] : ['-B', branch]), commit], {
    timeoutMs: 600_000,
  });
  takeInstalled(places, folder);
  await syncDisk(places.home, foreignEnv());
  setPointer(places, null);
}

/** Git removes a file before it writes it again, which must not happen to this one, so git is told that it is up to date. */
async function noteWrapper(git: Git, commit: string): Promise<void> {
  const blob = (await git(['rev-parse', `${commit}:svc`])).trim();
  await git(['update-index', '--cacheinfo', `100755,${blob},svc`]);
  await git(['update-index', '--refresh', '-q', '--really-refresh', '--', 'svc']).catch(() => undefined); // other files differ still
}

function takeInstalled(places: UpdatePlaces, folder: string): void {
  const { home } = places;
  take(places, {
    stamp: path.join(home, '.runtime/.svc-lock'),
    lock: path.join(folder, 'runtime/package-lock.json'),
    folders: [[path.join(folder, '.runtime/node_modules'), path.join(home, '.runtime/node_modules')]],
  });
  const lock = path.join(folder, 'package-lock.json');
  const folders = nodeModulesOf(lock).map((place): [string, string] => [path.join(folder, place), path.join(home, place)]);
  take(places, { stamp: path.join(home, 'node_modules/.svc-lock'), lock, folders });
  for (const built of builtFolders) {
    if (isFolder(path.join(folder, built))) exchange(places, path.join(folder, built), path.join(home, built));
  }
}

type SetUp = {
  /** The lock of the installed packages. */
  stamp: string;
  lock: string;
  folders: readonly [from: string, to: string][];
};

/** An installation without its stamp counts as missing, so the stamp is removed first and written last. */
function take(places: UpdatePlaces, { stamp, lock, folders }: SetUp): void {
  const there = folders.filter(([from]) => isFolder(from));
  // The machine's own Node is not ours to replace.
  if (there.length === 0) return;
  if (!namesSamePackages(stamp, lock)) {
    rmSync(stamp, { force: true });
    for (const [from, to] of there) exchange(places, from, to);
  }
  putCopy(lock, stamp);
}

/** Replaces `to` by a copy of `from`. */
function exchange({ folder }: UpdatePlaces, from: string, to: string): void {
  const [next, old] = [path.join(folder, 'incoming'), path.join(folder, 'outgoing')];
  for (const each of [next, old]) rmSync(each, { recursive: true, force: true });
  mkdirSync(path.dirname(to), { recursive: true });
  linkTree(from, next);
  if (existsSync(to)) renameSync(to, old);
  renameSync(next, to);
  rmSync(old, { recursive: true, force: true });
}
