import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { buildWebApp, webAppFolder, webToolsFolder } from '@svc/service-kit/packages/build-web-app.ts';
import { hasPackages } from '@svc/service-kit/packages/install-packages.ts';
import { linkTree } from '../src/update/link-tree.ts';
import { takeCompiled } from '../src/update/take-compiled.ts';

const repositoryRoot = path.resolve(import.meta.dirname, '../../..');

/** What a release needs to run. */
const isReleased = (name: string): boolean =>
  !/^(?:bench|test|docs|packages\/testing\/src)\/|\.test\.tsx?$|(?:^|\/)test\//.test(name);
/** The sources of web pages, which only their build reads. */
const isOfPages = (name: string): boolean =>
  /^(?:apps\/dashboard\/app|packages\/(?:chat-ui|device-gateway\/app))\/src\//.test(name);
/** Channels that are not set up in these installations, and the tests of all. */
const isNeverLoaded = (workspace: string): boolean =>
  /^(?:connectors\/(?:chatroom|email|issues|messenger|toolserver)|packages\/testing)$/.test(workspace);
/** Two thirds of the files of packages, and of Node, are read by no program. */
const isRead = (name: string): boolean => !/\.(?:md|map|[cm]?ts)$|^(?:include|share|docs|examples?|tests?)$/.test(name);

/** What git knows here of a release, with what is not committed yet; `pages`: also what web pages are built from. */
export function copySources(to: string, { pages }: { pages: boolean }): void {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
    cwd: repositoryRoot,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  for (const name of new Set(listed.split('\0'))) {
    const file = path.join(repositoryRoot, name);
    if (name === '' || !existsSync(file) || !isReleased(name) || (!pages && isOfPages(name))) continue;
    mkdirSync(path.dirname(path.join(to, name)), { recursive: true });
    copyFileSync(file, path.join(to, name));
  }
}

type Names = Record<string, string>;
type Locked = { link?: boolean; resolved?: string; dependencies?: Names; optionalDependencies?: Names; peerDependencies?: Names };
type Packages = Record<string, Locked>;

/** As `svc` would have set them up, without asking any registry, but for what no program of these installations loads, which is most of it. */
export function takeDependencies(to: string): void {
  const lock = path.join(repositoryRoot, 'package-lock.json');
  const { packages } = JSON.parse(readFileSync(lock, 'utf8')) as { packages: Packages };
  for (const place of neededPlaces(packages)) {
    const { link = false, resolved = '' } = packages[place] ?? {};
    const target = path.join(to, place);
    if (existsSync(target) || !existsSync(path.join(repositoryRoot, place))) continue;
    if (link) {
      mkdirSync(path.dirname(target), { recursive: true });
      symlinkSync(path.relative(path.dirname(target), path.join(to, resolved)), target);
    } else linkTree(path.join(repositoryRoot, place), target, isRead);
  }
  copyFileSync(path.join(to, 'package-lock.json'), path.join(to, 'node_modules/.svc-lock'));
  writeFileSync(path.join(to, 'node_modules/.svc-level'), 'production\n');
}

/** Where the packages are that the workspaces need, and those that these need; a package comes before those inside it. */
function neededPlaces(packages: Packages): string[] {
  const needed = new Set<string>(Object.keys(packages).filter((place) => packages[place]?.link));
  const open = Object.keys(packages).filter((place) => !place.includes('node_modules/') && place !== '' && !isNeverLoaded(place));
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const { dependencies, optionalDependencies, peerDependencies } = packages[at] ?? {};
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      const place = placeOf(packages, name, at);
      if (place === null || needed.has(place)) continue;
      needed.add(place);
      open.push(place);
    }
  }
  return [...needed].toSorted();
}

/** As Node looks for it: in the folder itself, then in those above. */
function placeOf(packages: Packages, name: string, from: string): string | null {
  for (let folder = from; ; folder = path.dirname(folder)) {
    const place = path.join(folder, 'node_modules', name);
    if (packages[place] !== undefined) return place;
    if (folder === '.') return null;
  }
}

/** What builds web pages, where it is set up here: else whoever builds them sets it up. */
export function takeWebTools(to: string): void {
  const tools = webToolsFolder(repositoryRoot);
  if (hasPackages({ lockFolder: repositoryRoot, folder: tools })) linkTree(tools, webToolsFolder(to), isRead);
}

/** The pages of the dashboard, which other tests use as well: built here when they are not. */
export async function takePages(to: string): Promise<void> {
  const how = { app: 'dashboard', env: process.env, registry: null, onStep: () => undefined } as const;
  await buildWebApp({ root: repositoryRoot, ...how });
  linkTree(webAppFolder(repositoryRoot, 'dashboard'), webAppFolder(to, 'dashboard'));
}

/** The Node that is set up here, where there is one: else that of the machine does. */
export function takeNode(to: string): void {
  const runtime = path.join(repositoryRoot, '.runtime/node_modules');
  if (!existsSync(runtime)) return;
  linkTree(runtime, path.join(to, '.runtime/node_modules'), isRead);
  copyFileSync(path.join(to, 'runtime/package-lock.json'), path.join(to, '.runtime/.svc-lock'));
}

/** Compiled code of earlier copies, at the place where a version has its own. */
const kept = path.join(repositoryRoot, '.cache/copies');
const keptMs = 24 * 3600_000;
const compiledIn = (folder: string): string[] => {
  const place = path.join(folder, '.cache/node');
  return existsSync(place) ? readdirSync(place).filter((name) => name.startsWith('v')) : [];
};

/** The files of compiled code that a version has. */
export const compiledFiles = (folder: string): string[] =>
  compiledIn(folder).flatMap((name) =>
    readdirSync(path.join(folder, '.cache/node', name)).map((file) => path.join(folder, '.cache/node', name, file)),
  );
/** A service that has run for some seconds has more of them. */
export const fewCompiled = 1000;

/** A copy starts without compiling what an earlier one did. */
export function takeKept(to: string): void {
  for (const name of compiledIn(kept)) takeCompiled(kept, to, name);
}

/** Keeps what a copy has compiled for the next ones, for a day: then too much of it is of older sources. */
export function keepCompiled(from: string): void {
  const names = compiledIn(from);
  const isThere = (name: string) =>
    Date.now() - (statSync(path.join(kept, '.cache/node', name), { throwIfNoEntry: false })?.birthtimeMs ?? 0) < keptMs;
  if (names.every(isThere)) return;
  const fresh = `${kept}.${process.pid}`;
  for (const name of names) takeCompiled(from, fresh, name);
  rmSync(kept, { recursive: true, force: true });
  try {
    renameSync(fresh, kept);
  } catch {
    rmSync(fresh, { recursive: true }); // another file of tests has kept its own meanwhile
  }
}
