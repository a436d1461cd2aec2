import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { describeMetaProblems } from './meta-problems.ts';
import { readMeta } from './read-meta.ts';

/** A usable type: its description and the module that exports `meta` and `start`. */
export type ConnectorType = { meta: ConnectorMeta; entry: string };
export type FoundTypes = { types: ConnectorType[]; problems: string[] };

/**
 * Looks for connector types: each folder of `own` (this repository) and `added` (the operator's) is one. Only the
 * description is loaded. What is wrong with a folder is told and stops no other; of two with one name the own one counts.
 */
export async function findTypes(own: string, added: string): Promise<FoundTypes> {
  const found: FoundTypes = { types: [], problems: [] };
  const folders = [...foldersIn(own), ...foldersIn(added)];
  const loaded = await Promise.allSettled(folders.map((dir) => loadType(dir, dir.startsWith(`${added}/`))));
  for (const [index, result] of loaded.entries()) {
    const folder = folders[index] ?? '';
    const where = `"${path.basename(folder)}" in ${path.dirname(folder)}`;
    const tell = (problem: string) => found.problems.push(`The connector type ${where} cannot be used: ${problem}.`);
    if (result.status === 'rejected') tell(errorText(result.reason));
    else if (found.types.some(({ meta }) => meta.type === result.value.meta.type)) tell('there is a type of this name already');
    else found.types.push(result.value);
  }
  return found;
}

/** Folders whose name begins with `_` or `.` are no types (templates, leftovers of an editor), nor are packages. */
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

async function loadType(dir: string, isAdded: boolean): Promise<ConnectorType> {
  // Code from here runs with the service's rights, so nobody else may be able to put it here.
  if (isAdded && (statSync(dir).mode & 0o022) !== 0) throw new Error('others may write to this folder; run chmod go-w on it');
  const entry = entryOf(dir);
  if (entry === null) throw new Error('it has neither package.json "exports" nor src/index.ts, src/index.js or index.js');
  const metaFile = ['src/meta.ts', 'src/meta.js'].map((file) => path.join(dir, file)).find((file) => existsSync(file));
  const meta = await (isAdded ? readMeta(metaFile ?? entry) : importMeta(metaFile ?? entry));
  const problems = describeMetaProblems(meta, path.basename(dir));
  if (problems.length > 0) throw new Error(problems.join('; '));
  // Checked just above.
  return { meta: meta as ConnectorMeta, entry };
}

function entryOf(dir: string): string | null {
  const candidates = [exportOf(path.join(dir, 'package.json')), 'src/index.ts', 'src/index.js', 'index.js'];
  const entry = candidates.find((file) => file !== null && existsSync(path.join(dir, file)));
  return typeof entry === 'string' ? path.join(dir, entry) : null;
}

/** The module of a package's `exports`, as far as a plain path goes. */
function exportOf(manifest: string): string | null {
  if (!existsSync(manifest)) return null;
  const { exports } = JSON.parse(readFileSync(manifest, 'utf8')) as { exports?: unknown };
  const root: unknown = typeof exports === 'object' && exports !== null ? (exports as Record<string, unknown>)['.'] : exports;
  const target: unknown = typeof root === 'object' && root !== null ? (root as Record<string, unknown>)['default'] : root;
  return typeof target === 'string' ? target : null;
}

/** Only for code of this repository. */
const importMeta = async (file: string): Promise<unknown> =>
  ((await import(pathToFileURL(file).href)) as { meta?: unknown }).meta;
