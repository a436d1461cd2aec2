import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { writeFileAtomic, syncFolderSync } from '@svc/service-kit/files.ts';
import { runProgram } from '@svc/service-kit/process/run-program.ts';
import { syncDisk } from '@svc/service-kit/restore/sync-disk.ts';
import type { UpdatePlaces } from '@svc/service-kit/update/update-places.ts';
import type { Git } from './git.ts';
import { foreignEnv } from './program-env.ts';
import { isFolder, linkTree } from './link-tree.ts';
import { takeCompiled } from './take-compiled.ts';

/** Marks a complete version folder: its files, its dependencies, its Node. Written last. */
const wholeFile = '.svc-whole';
const installTimeoutMs = 20 * 60_000;

/** A version that cannot be installed, with the reason. */
export class BrokenVersion extends Error {
  override readonly name = 'BrokenVersion';
}

/** A disk that is full or failing, in the words of the system, SQLite and our services. */
const diskFault =
  /\b(?:ENOSPC|EDQUOT|EIO|SQLITE_FULL)\b|[Nn]o space left on device|database or disk is full|disk I\/O error|[Nn]o room left on the disk/;
const noNetwork =
  /\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT|\w+_CERT\w*|CERT_\w+)\b/;

/** The error for a failed version: its own fault, unless the message is about a disk that is full or failing. */
export const faultOf = (words: string): Error => (diskFault.test(words) ? new Error(words) : new BrokenVersion(words));

/** The same for an installation, where the network may be at fault, too. `log`: npm's full output, of which the message is the end. */
export const installFaultOf = (words: string, log = ''): Error =>
  [noNetwork, diskFault].some((ofTheMachine) => ofTheMachine.test(words) || ofTheMachine.test(log))
    ? new Error(words)
    : new BrokenVersion(words);

export const versionFolder = ({ versions }: Pick<UpdatePlaces, 'versions'>, commit: string): string =>
  path.join(versions, commit);

/** A worktree that git has forgotten, for instance while its disk was not mounted, is created again: it would not know its own commit. */
export const isWhole = (folder: string): boolean => existsSync(path.join(folder, wholeFile)) && !isForgotten(folder);

/** The version of an archive is not a git worktree. */
function isForgotten(folder: string): boolean {
  const link = path.join(folder, '.git');
  const gitFolder = existsSync(link) ? /^gitdir: (.+)$/m.exec(readFileSync(link, 'utf8'))?.[1] : undefined;
  return gitFolder !== undefined && !existsSync(path.resolve(folder, gitFolder, 'HEAD'));
}

type Plan = {
  places: UpdatePlaces;
  git: Git;
  commit: string;
  /** A folder whose dependencies and compiled code are reused where they are the same. */
  like: string;
};

/** Adds a complete version folder; an existing one is kept. @throws BrokenVersion, GitFault, disk errors */
export async function makeVersion({ places, git, commit, like }: Plan): Promise<string> {
  const folder = versionFolder(places, commit);
  await reconnect(places, git);
  if (isWhole(folder)) return folder;
  await removeVersion(places, git, commit);
  mkdirSync(places.versions, { recursive: true, mode: 0o700 });
  await git(['worktree', 'add', '--quiet', '--force', '--detach', folder, commit], { timeoutMs: installTimeoutMs });
  takeDotenv(folder);
  takeDependencies(like, folder);
  takeCompiled(like, folder);
  await setUp(folder);
  await markWhole(folder, commit);
  return folder;
}

/** After the installation was moved, git does not find its worktrees and they do not find the repository, which a running version does not need. */
async function reconnect(places: UpdatePlaces, git: Git): Promise<void> {
  const lost = versionsIn(places)
    .map((commit) => versionFolder(places, commit))
    .filter(isForgotten);
  if (lost.length > 0) await git(['worktree', 'repair', ...lost]).catch(() => undefined); // what stays forgotten is made again
}

/** All versions share the settings of the installation. */
export const takeDotenv = (folder: string): void => symlinkSync('../../../.env', path.join(folder, '.env'));

/** A mark that survives a power failure must not survive the files that it stands for. */
export async function markWhole(folder: string, commit: string): Promise<void> {
  await syncDisk(folder, foreignEnv());
  writeFileAtomic(path.join(folder, wholeFile), `${commit}\n`);
  syncFolderSync(folder);
}

export async function removeVersion(places: UpdatePlaces, git: Git, commit: string): Promise<void> {
  removeFolder(versionFolder(places, commit));
  await git(['worktree', 'prune']);
}

/** Removes the mark first: a half-removed folder must not count as complete. A process of the version may just write its compiled code there. */
export function removeFolder(folder: string): void {
  rmSync(path.join(folder, wholeFile), { force: true });
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}

/** The names of the existing versions. */
export const versionsIn = ({ versions }: Pick<UpdatePlaces, 'versions'>): string[] =>
  existsSync(versions) ? readdirSync(versions) : [];

/** Reuses an existing installation when the locks name the same packages. An inconsistent lock is left to the installer, which refuses it. */
function takeDependencies(like: string, folder: string): void {
  const runtimeLock = path.join(folder, 'runtime/package-lock.json');
  if (fitsManifests(runtimeLock) && namesSamePackages(path.join(like, '.runtime/.svc-lock'), runtimeLock)) {
    linkTree(path.join(like, '.runtime/node_modules'), path.join(folder, '.runtime/node_modules'));
    putCopy(runtimeLock, path.join(folder, '.runtime/.svc-lock'));
  }
  const lock = path.join(folder, 'package-lock.json');
  if (!fitsManifests(lock) || !namesSamePackages(path.join(like, 'node_modules/.svc-lock'), lock)) return;
  for (const place of nodeModulesOf(lock)) {
    if (isFolder(path.join(like, place))) linkTree(path.join(like, place), path.join(folder, place));
  }
  putCopy(lock, path.join(folder, 'node_modules/.svc-lock'));
}

/** Replaces a file by a copy. Linked folders share their files, so none of them is ever written in place. */
export function putCopy(from: string, to: string): void {
  rmSync(`${to}.new`, { force: true });
  copyFileSync(from, `${to}.new`);
  renameSync(`${to}.new`, to);
}

/** `node_modules`, and those of single workspaces with their own versions. The first one contains the stamp, so it comes last. */
export function nodeModulesOf(lock: string): string[] {
  const { packages = {} } = JSON.parse(readFileSync(lock, 'utf8')) as { packages?: Record<string, unknown> };
  const found = Object.keys(packages).flatMap((name) => /^(.*?\/?node_modules)\//.exec(name)?.[1] ?? []);
  return [...new Set(found)].toSorted((a, b) => b.length - a.length);
}

/** Whether two lock files exist and name the same packages to install. Each release writes its own version into its lock. */
export function namesSamePackages(a: string, b: string): boolean {
  return existsSync(a) && existsSync(b) && packagesIn(a) === packagesIn(b);
}

function packagesIn(file: string): string {
  const {
    version: _own,
    packages = {},
    ...rest
  } = JSON.parse(readFileSync(file, 'utf8')) as {
    version?: string;
    packages?: Record<string, { version?: string }>;
  };
  const entries = Object.entries(packages).map(([place, found]) => [
    place,
    place.includes('node_modules/') ? found : { ...found, version: undefined },
  ]);
  return JSON.stringify([rest, entries]);
}

const wantedFields = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'] as const;
type Wanted = Partial<Record<(typeof wantedFields)[number], Record<string, string>>>;

/** Whether a lock repeats the dependency lists of the manifests beside and below it. */
export function fitsManifests(lock: string): boolean {
  const { packages = {} } = JSON.parse(readFileSync(lock, 'utf8')) as { packages?: Record<string, Wanted> };
  return Object.entries(packages).every(([place, found]) => {
    if (place.includes('node_modules/')) return true;
    const manifest = path.join(path.dirname(lock), place, 'package.json');
    if (!existsSync(manifest)) return false;
    const wanted = JSON.parse(readFileSync(manifest, 'utf8')) as Wanted;
    return wantedFields.every((field) => isSameList(wanted[field], found[field]));
  });
}

const isSameList = (a: Record<string, string> = {}, b: Record<string, string> = {}): boolean =>
  Object.keys(a).length === Object.keys(b).length && Object.entries(a).every(([name, version]) => b[name] === version);

/** The version's own `svc` finds or installs an accepted Node, and installs the packages of its lock. */
export async function setUp(folder: string): Promise<void> {
  const fits = fitsManifests(path.join(folder, 'package-lock.json'));
  const { ending, code, stdout, stderr } = await runProgram(path.join(folder, 'svc'), ['--version'], {
    cwd: folder,
    // npm refuses an inconsistent lock, but first looks for the missing packages: limits how long it may try.
    env: { ...foreignEnv(), ...(fits ? {} : { npm_config_fetch_retries: '0' }) },
    timeoutMs: installTimeoutMs,
  });
  if (ending === 'ended' && code === 0) return;
  const words = (stderr.trim() || stdout.trim()).slice(-1500) || `svc ended with ${code}.`;
  if (!fits) throw new BrokenVersion(`Its package-lock.json does not match its package.json files. ${words}`);
  throw installFaultOf(ending === 'too_late' ? 'Its installation did not end within 20 minutes.' : words, npmLog(folder));
}

/** npm's last message to the `svc` of a version. */
function npmLog(folder: string): string {
  try {
    return readFileSync(path.join(folder, '.runtime/npm.log'), 'utf8').slice(-20_000);
  } catch {
    return ''; // it was not run
  }
}
