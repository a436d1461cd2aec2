import { existsSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { webAppFolder, webApps, webToolsFolder, type WebApp } from '@svc/service-kit/packages/build-web-app.ts';
import { runProgram } from '@svc/service-kit/process/run-program.ts';
import { isFolder, linkTree } from './link-tree.ts';
import { foreignEnv } from './program-env.ts';
import { faultOf, namesSamePackages, putCopy } from './version-folder.ts';

/** Time for one build, and for the tools that may have to be installed first. */
const timeoutMs = 11 * 60_000;

/** Built output below the folder of a version. */
export const builtFolders = [
  path.relative('/', webToolsFolder('/')),
  ...webAppNames().map((app) => path.relative('/', webAppFolder('/', app))),
];

/** Copies the built output of a version to a copy of the same version. */
export function takeBuilds(from: string, to: string): void {
  for (const built of builtFolders) {
    if (isFolder(path.join(from, built)) && !existsSync(path.join(to, built)))
      linkWhole(path.join(from, built), path.join(to, built));
  }
}

type Build = {
  /** The version's folder. */
  folder: string;
  /** The running version: the apps that are built there are needed. */
  like: string;
  say(line: string): void;
};

/**
 * Builds the web apps that the installation uses, with the version's own script. When its tools cannot be installed, the service builds them once it
 * runs: that is not a fault of the version. @throws BrokenVersion when the build fails, Error when the machine is at fault
 */
export async function buildWebApps({ folder, like, say }: Build): Promise<void> {
  const script = path.join(folder, 'scripts/build-web.ts');
  const wanted = webAppNames().filter((app) => isFolder(webAppFolder(like, app)));
  if (wanted.length === 0 || !existsSync(script)) return;
  takeTools(like, folder);
  for (const app of wanted) {
    const { ending, code, stderr } = await runProgram(nodeOf(folder), [script, app], {
      cwd: folder,
      env: foreignEnv(),
      timeoutMs,
    });
    if (ending === 'ended' && code === 0) continue;
    const words = ending === 'too_late' ? 'Its build did not end in time.' : reasonOf(stderr);
    if (isFolder(webToolsFolder(folder))) throw faultOf(`The pages of its ${app} do not build. ${words}`);
    say(`Note: the tools that build web pages could not be installed, so the service builds them once it runs. ${words}`);
    return;
  }
}

function webAppNames(): WebApp[] {
  return Object.keys(webApps) as WebApp[];
}

/** The Node that `svc` would use. */
function nodeOf(folder: string): string {
  const own = path.join(folder, '.runtime/node_modules/.bin/node');
  return existsSync(own) ? own : process.execPath;
}

/** Locks with the same packages may differ in the version of the release. */
function takeTools(like: string, folder: string): void {
  const [from, to] = [webToolsFolder(like), webToolsFolder(folder)];
  const lock = path.join(folder, 'package-lock.json');
  if (isFolder(to) || !namesSamePackages(path.join(from, 'package-lock.json'), lock)) return;
  linkWhole(from, to, (staged) => putCopy(lock, path.join(staged, 'package-lock.json')));
}

/** Moved into place by one rename, because an existing folder counts as complete. */
function linkWhole(from: string, to: string, change: (staged: string) => void = () => undefined): void {
  const staged = `${to}.new-link`;
  rmSync(staged, { recursive: true, force: true });
  linkTree(from, staged);
  change(staged);
  renameSync(staged, to);
}

const reasonOf = (stderr: string): string =>
  /^Error: (.+)/ms.exec(stderr)?.[1]?.split('\n    at ')[0] ?? stderr.trim().slice(-1500);
