import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { createTextTail } from '../process/text-tail.ts';
import { syncDisk } from '../restore/sync-disk.ts';
import { errorText } from '../service-error.ts';
import { hasPackages, installPackages, type PackageInstallation } from './install-packages.ts';

type Build = Pick<PackageInstallation, 'env' | 'registry' | 'signal'> & {
  /** Root of the repository or of a copy, with the lock file. */
  root: string;
  app: WebApp;
  /** Called with a description of each step. */
  onStep(words: string): void;
};

/** The web apps: that of devices, and the dashboard. */
export const webApps = { devices: 'packages/device-gateway/app', dashboard: 'apps/dashboard/app' } as const;
export type WebApp = keyof typeof webApps;

/** The workspace that every app uses in addition to its own folder. */
const shared = 'packages/chat-ui';
const stampFile = '.stamp';
const timeoutMs = 5 * 60_000;

/** The folder of the built app; if it exists, it is complete. */
export const webAppFolder = (root: string, app: WebApp): string => path.join(root, webApps[app], 'dist');

/** The folder of the build tools. */
export const webToolsFolder = (root: string): string => path.join(root, '.cache', 'web-tools');

/** Whether the built app is up to date with its sources and the lock file. A release has no sources; its build is always up to date. */
export function isWebAppBuilt(root: string, app: WebApp): boolean {
  if (!existsSync(path.join(root, webApps[app], 'src'))) return existsSync(webAppFolder(root, app));
  try {
    return readFileSync(path.join(webAppFolder(root, app), stampFile), 'utf8') === stampOf(root, app);
  } catch {
    return false; // never built
  }
}

/**
 * Builds the web app according to the lock file, with tools that only the build uses: they are installed below `.cache`, and no running process loads
 * them. Does nothing if the build is up to date.
 * @throws Error with the error of npm or the build.
 */
export async function buildWebApp({ root, app, onStep, ...how }: Build): Promise<'built' | 'fits'> {
  if (isWebAppBuilt(root, app)) return 'fits';
  const target = webAppFolder(root, app);
  const folder = webToolsFolder(root);
  if (!hasPackages({ lockFolder: root, folder })) {
    onStep('Installing the tools that build web apps');
    // For all apps, so that one that is built later finds the tools.
    const all = [shared, ...Object.values(webApps)];
    const flags = ['--include=dev', '--prefer-offline', ...all.flatMap((workspace) => ['-w', workspace])];
    const manifests = all.map((workspace) => `${workspace}/package.json`);
    await installPackages({ ...how, lockFolder: root, folder, flags, workspaces: manifests });
  }
  onStep('Building the web app');
  // A separate folder, so that two builds at once do not collide; below the tools, so that modules are found.
  const work = mkdtempSync(path.join(folder, 'build-'));
  const staged = `${target}.new-${path.basename(work)}`;
  try {
    for (const workspace of [shared, webApps[app]])
      cpSync(path.join(root, workspace), path.join(work, workspace), { recursive: true, filter: isSource });
    mkdirSync(path.join(work, 'node_modules/@svc'), { recursive: true });
    symlinkSync('../../packages/chat-ui', path.join(work, 'node_modules/@svc/chat-ui'));
    const stamp = stampOf(root, app);
    await runVite(folder, path.join(work, webApps[app]), how.signal);
    cpSync(path.join(work, webApps[app], 'dist'), staged, { recursive: true });
    writeFileSync(path.join(staged, stampFile), stamp);
    await syncDisk(staged, how.env);
    putInPlace(staged, target, () => isWebAppBuilt(root, app));
  } finally {
    rmSync(work, { recursive: true, force: true });
    rmSync(staged, { recursive: true, force: true });
  }
  return 'built';
}

/** Several processes may do this at once: one that comes between the two steps of another retries, unless the same build is in place by then. */
function putInPlace(staged: string, target: string, isThere: () => boolean): void {
  for (let left = 20; !isThere(); left--) {
    try {
      rmSync(target, { recursive: true, force: true });
      renameSync(staged, target);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (left === 0 || (code !== 'ENOTEMPTY' && code !== 'EEXIST')) throw error;
    }
  }
}

const isSource = (file: string): boolean =>
  !/(?:^|\/)(?:node_modules|dist|dist\.new-[\w-]+|tsconfig\.json)$|\.test\.ts$/.test(file);

/** A digest of everything that the build reads. */
function stampOf(root: string, app: WebApp): string {
  const hash = createHash('sha256').update(readFileSync(path.join(root, 'package-lock.json')));
  for (const workspace of [shared, webApps[app]]) {
    const files = readdirSync(path.join(root, workspace), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name))
      .filter((file) => file.slice(root.length).split('/').every(isSource) && isSource(file));
    for (const file of files.toSorted()) hash.update(path.relative(root, file)).update(readFileSync(file));
  }
  return hash.digest('hex');
}

async function runVite(tools: string, folder: string, signal: AbortSignal | undefined): Promise<void> {
  const vite = spawn(process.execPath, [path.join(tools, 'node_modules/vite/bin/vite.js'), 'build', '--logLevel=error'], {
    cwd: folder,
    env: { PATH: process.execPath.slice(0, process.execPath.lastIndexOf('/')), LC_ALL: 'C.UTF-8' },
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
    ...(signal === undefined ? {} : { signal }),
  });
  const stderr = createTextTail();
  vite.stderr.setEncoding('utf8').on('data', stderr.add);
  let fault: Error | null = null;
  vite.on('error', (error) => (fault = error));
  await new Promise<void>((resolve) => vite.once('close', () => resolve()));
  if (fault !== null) throw new Error(`The build of the web app could not be run: ${errorText(fault)}`, { cause: fault });
  if (vite.exitCode !== 0) throw new Error(`The web app could not be built: ${stderr.read() || `ended by ${vite.signalCode}`}`);
}
