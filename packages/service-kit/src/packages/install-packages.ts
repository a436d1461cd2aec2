import { spawn } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { isAlive } from '../process/signal-process.ts';
import { createTextTail } from '../process/text-tail.ts';
import { syncDisk } from '../restore/sync-disk.ts';
import { errorText } from '../service-error.ts';
import { npmEnv, npmReason } from './npm-program.ts';

export type PackageInstallation = {
  /** Folder of `package.json` and `package-lock.json`, which fix the version and digest of each package. */
  lockFolder: string;
  /** The target folder; it is complete, or does not exist. */
  folder: string;
  /** Null: npm's own setting. */
  registry: string | null;
  env: Readonly<Record<string, string | undefined>>;
  signal?: AbortSignal;
  /** Further options of npm, for example the processor. */
  flags?: readonly string[];
  /** Manifests of workspaces, as paths relative to `lockFolder`; npm installs their dependencies. */
  workspaces?: readonly string[];
};

const manifests = ['package.json', 'package-lock.json'];
const timeoutMs = 5 * 60_000;
const lastOutputMs = 250;

/** Whether the folder has the packages of the lock file. It was put in place complete, with its lock file. */
export function hasPackages({ lockFolder, folder }: Pick<PackageInstallation, 'lockFolder' | 'folder'>): boolean {
  const read = (dir: string) => readFileSync(path.join(dir, 'package-lock.json'), 'utf8');
  try {
    return read(lockFolder) === read(folder);
  } catch {
    return false; // not there
  }
}

/**
 * Installs libraries that only some installations need. Runs no scripts of packages. npm is ended by `signal`, and with this process,
 * because it is in the same process group.
 * @throws Error with npm's own reason.
 */
export async function installPackages(installation: PackageInstallation): Promise<void> {
  const { lockFolder, folder } = installation;
  const parent = path.dirname(folder);
  const staged = `.${path.basename(folder)}-installing-`;
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  removeLeft(parent, staged);
  const staging = path.join(parent, `${staged}${process.pid}`);
  try {
    mkdirSync(staging, { mode: 0o700 });
    for (const file of [...manifests, ...(installation.workspaces ?? [])]) {
      mkdirSync(path.dirname(path.join(staging, file)), { recursive: true, mode: 0o700 });
      copyFileSync(path.join(lockFolder, file), path.join(staging, file));
      chmodSync(path.join(staging, file), 0o600);
    }
    await runNpm(staging, installation);
    // Once it is in place, it counts as complete.
    await syncDisk(staging, installation.env);
    put(staging, installation);
  } finally {
    for (const left of [staging, asideOf(staging)]) rmSync(left, { recursive: true, force: true });
  }
}

/** Removes what ended installers left behind. Another installer may be running. */
function removeLeft(parent: string, staged: string): void {
  const left = readdirSync(parent).filter(
    (name) => name.startsWith(staged) && !isAlive(Number.parseInt(name.slice(staged.length), 10)),
  );
  for (const name of left) rmSync(path.join(parent, name), { recursive: true, force: true });
}

/**
 * Moves the installed packages to their place, replacing an older version. Several processes may do this at once: the second one keeps the folder of
 * the first, because it may be in use already. The old folder is moved aside in one step and removed afterwards: removing it in place takes long, and
 * could remove what another process has put there meanwhile.
 */
function put(staging: string, installation: PackageInstallation): void {
  const { folder, lockFolder } = installation;
  const aside = asideOf(staging);
  for (let left = 20; !hasPackages(installation); left--) {
    try {
      if (existsSync(folder)) renameSync(folder, aside);
      // Another process put its folder there between the check and this step.
      if (hasPackages({ lockFolder, folder: aside })) renameSync(aside, folder);
      else renameSync(staging, folder);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (left === 0 || !['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(code ?? '')) throw error;
    }
    rmSync(aside, { recursive: true, force: true });
  }
}

/** Where the previous version is while it is removed. */
const asideOf = (staging: string): string => `${staging}-before`;

async function runNpm(cwd: string, { registry, env, signal, flags = [] }: PackageInstallation): Promise<void> {
  const usual = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier', '--fetch-retries=1', '--loglevel=error'];
  const args = ['ci', '--prefix', cwd, ...usual, ...flags, ...(registry === null ? [] : [`--registry=${registry}`])];
  const npm = spawn('npm', args, {
    cwd,
    env: npmEnv(env),
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
    signal,
  });
  const stderr = createTextTail();
  npm.stderr.setEncoding('utf8').on('data', stderr.add);
  let fault: Error | null = null;
  npm.on('error', (error) => (fault = error));
  // A process that inherited the pipe can keep it open long after npm has ended.
  npm.once('exit', () => setTimeout(() => npm.stderr.destroy(), lastOutputMs));
  await new Promise<void>((resolve) => npm.once('close', () => resolve()));
  if (signal?.aborted === true) throw new Error('npm was ended because the service is stopping');
  if (fault !== null) throw new Error(`npm could not be run: ${errorText(fault)}`, { cause: fault });
  if (npm.signalCode !== null) throw new Error(`npm was ended by ${npm.signalCode}, after at most ${timeoutMs / 1000} s`);
  if (npm.exitCode !== 0) throw new Error(npmReason(stderr.read()));
}
