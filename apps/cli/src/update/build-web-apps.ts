import { existsSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { webAppFolder, webApps, webToolsFolder, type WebApp } from '@svc/service-kit/packages/build-web-app.ts';
import { runProgram } from '@svc/service-kit/process/run-program.ts';
import { isFolder, linkTree } from './link-tree.ts';
import { foreignEnv } from './program-env.ts';
import { faultOf, namesSamePackages, putCopy } from './version-folder.ts';

/** For the tools, which may have to be installed, and one build. */
const timeoutMs = 11 * 60_000;

/** What is built from the sources, below the folder of a version. */
export const builtFolders = [
  path.relative('/', webToolsFolder('/')),
  ...webAppNames().map((app) => path.relative('/', webAppFolder('/', app))),
];

/** Gives a copy of the same version what was built of it. */
export function takeBuilds(from: string, to: string): void {
  for (const built of builtFolders) {
    if (isFolder(path.join(from, built)) && !existsSync(path.join(to, built)))
      linkWhole(path.join(from, built), path.join(to, built));
  }
}

type Build = {
  /** The version's folder. */
  folder: string;
  /** What runs now: the apps that are built there are wanted. */
  like: string;
  say(line: string): void;
};

/**
 * Builds the web apps that the installation uses, by the version's own script. Where the tools for it cannot be had, the service builds them once it runs:
 * that says nothing about the version. @throws BrokenVersion for one that does not build, Error where the machine could not
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

/** The one that `svc` would take. */
function nodeOf(folder: string): string {
  const own = path.join(folder, '.runtime/node_modules/.bin/node');
  return existsSync(own) ? own : process.execPath;
}

/** A lock that names the same packages differs by the version of the release alone. */
function takeTools(like: string, folder: string): void {
  const [from, to] = [webToolsFolder(like), webToolsFolder(folder)];
  const lock = path.join(folder, 'package-lock.json');
  if (isFolder(to) || !namesSamePackages(path.join(from, 'package-lock.json'), lock)) return;
  linkWhole(from, to, (staged) => putCopy(lock, path.join(staged, 'package-lock.json')));
}

/** There at once, or not at all: what is there counts as complete. */
function linkWhole(from: string, to: string, change: (staged: string) => void = () => undefined): void {
  const staged = `${to}.new-link`;
  rmSync(staged, { recursive: true, force: true });
  linkTree(from, staged);
  change(staged);
  renameSync(staged, to);
}

const reasonOf = (stderr: string): string =>
  /^Error: (.+)/ms.exec(stderr)?.[1]?.split('\n    at ')[0] ?? stderr.trim().slice(-1500);
