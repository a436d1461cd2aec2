import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ConnectorMeta, LoadedMeta } from '@svc/contract/connector-meta.ts';
import { isRecord } from '@svc/contract/json-value.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { withUsualSettings } from './memory-limit.ts';
import { describeContradictions, describeMetaProblems } from './meta-problems.ts';
import { readMeta } from './read-meta.ts';

/** A usable type: its description, its folder, and the module there that exports `meta` and `start`. */
export type ConnectorType = { meta: LoadedMeta; entry: string; folder: string; isAdded: boolean };
export type FoundTypes = { types: ConnectorType[]; problems: string[] };
/** Folders that were examined before, each with its state then and the result. `againAt`: when a folder that failed is examined again. */
export type SeenFolders = Map<string, { mark: string; type: Promise<ConnectorType>; againAt: number }>;

/** The cause of a failure may lie outside the folder: a busy machine, a package that was not installed yet. */
const againAfterMs = 30_000;

/**
 * Finds connector types: each folder in `own` (this repository) and `added` (the operator's) is one. Only the description
 * is loaded, and again only if its folder has changed. A faulty folder is reported and does not affect the others; of two
 * types with the same name the one in `own` is used.
 */
export async function findTypes(own: string, added: string, seen: SeenFolders = new Map()): Promise<FoundTypes> {
  const found: FoundTypes = { types: [], problems: [] };
  const folders = [...foldersIn(own), ...foldersIn(added)];
  for (const folder of seen.keys()) if (!folders.includes(folder)) seen.delete(folder);
  const loaded = await Promise.allSettled(folders.map((dir) => look(dir, dir.startsWith(`${added}/`), seen)));
  for (const [index, result] of loaded.entries()) {
    const folder = folders[index] ?? '';
    const where = `"${path.basename(folder)}" in ${path.dirname(folder)}`;
    const report = (problem: string) => found.problems.push(`The connector type ${where} cannot be used: ${problem}.`);
    if (result.status === 'rejected') report(errorText(result.reason));
    else if (found.types.some(({ meta }) => meta.type === result.value.meta.type)) report('another type already has this name');
    else found.types.push(result.value);
  }
  return found;
}

/** Folders whose name begins with `_` or `.` (templates, leftovers of an editor) are not types, nor are packages. */
function foldersIn(dir: string): string[] {
  if (!existsSync(dir)) return [];
  const names = readdirSync(dir).filter((name) => !/^[._]|^node_modules$/.test(name));
  return names
    .sort()
    .map((name) => path.join(dir, name))
    .filter(isFolder);
}

function isFolder(file: string): boolean {
  try {
    return statSync(file).isDirectory();
  } catch {
    return false; // a link that leads nowhere
  }
}

/** Code of this repository stays loaded in this process, so it is not examined again. */
function look(dir: string, isAdded: boolean, seen: SeenFolders): Promise<ConnectorType> {
  const mark = isAdded ? markOf(dir) : '';
  const before = seen.get(dir);
  if (before?.mark === mark && performance.now() < before.againAt) return before.type;
  const type = loadType(dir, isAdded);
  const found = { mark, type, againAt: Number.POSITIVE_INFINITY };
  seen.set(dir, found);
  if (isAdded) type.catch(() => (found.againAt = performance.now() + againAfterMs));
  return type;
}

/** Changes with the files of the folder, of its `src`, and beside its module: the description is in one of them. */
function markOf(dir: string): string {
  const folders = new Set([dir, path.join(dir, 'src'), ...moduleFolder(dir)]);
  const files = [...folders].flatMap((folder) => [folder, ...filesIn(folder)]);
  return files
    .map((file) => {
      const { mtimeMs = 0, size = 0, mode = 0, ino = 0 } = statSync(file, { throwIfNoEntry: false }) ?? {};
      return `${file} ${mtimeMs} ${size} ${mode} ${ino}`;
    })
    .join('\n');
}

function moduleFolder(dir: string): string[] {
  try {
    const entry = entryOf(dir);
    return entry === null ? [] : [path.dirname(entry)];
  } catch {
    return []; // the error is reported when it is loaded
  }
}

const filesIn = (folder: string): string[] =>
  existsSync(folder) ? readdirSync(folder).map((name) => path.join(folder, name)) : [];

async function loadType(dir: string, isAdded: boolean): Promise<ConnectorType> {
  // This code runs with the rights of the service, so no other user may be able to write it.
  if (isAdded && (statSync(dir).mode & 0o022) !== 0)
    throw new Error('other users can write to this folder; run chmod go-w on it');
  const entry = entryOf(dir);
  if (entry === null) throw new Error('it has neither package.json "exports" nor src/index.ts, src/index.js or index.js');
  const metaFile = ['src/meta.ts', 'src/meta.js'].map((file) => path.join(dir, file)).find((file) => existsSync(file));
  const meta = await (isAdded ? readMeta(metaFile ?? entry, dir) : importMeta(metaFile ?? entry));
  // The schemas of this repository's types are checked by a test (find-types.test.ts): checking them here would take longer than all the rest.
  const describe = isAdded || !isRecord(meta) ? describeMetaProblems : describeContradictions;
  const problems = describe(meta as ConnectorMeta, path.basename(dir));
  if (problems.length > 0) throw new Error(problems.join('; '));
  const described = withUsualSettings(meta as ConnectorMeta);
  return { meta: { ...described, outbound: described.outbound ?? false }, entry, folder: dir, isAdded };
}

function entryOf(dir: string): string | null {
  const candidates = [exportOf(path.join(dir, 'package.json')), 'src/index.ts', 'src/index.js', 'index.js'];
  const entry = candidates.find((file) => file !== null && existsSync(path.join(dir, file)));
  return typeof entry === 'string' ? path.join(dir, entry) : null;
}

/** The module in a package's `exports`, if that is a plain path. */
function exportOf(manifest: string): string | null {
  if (!existsSync(manifest)) return null;
  const { exports } = JSON.parse(readFileSync(manifest, 'utf8')) as { exports?: unknown };
  const root: unknown = isRecord(exports) ? exports['.'] : exports;
  const target: unknown = isRecord(root) ? root['default'] : root;
  return typeof target === 'string' ? target : null;
}

/** Only for code of this repository. */
const importMeta = async (file: string): Promise<unknown> =>
  ((await import(pathToFileURL(file).href)) as { meta?: unknown }).meta;
