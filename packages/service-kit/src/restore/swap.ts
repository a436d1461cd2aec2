import { lstatSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { RestorePlan } from '@svc/contract/backup.ts';
import { makePrivateDir, writeFileAtomic, syncFolderSync } from '../files.ts';
import { readJsonFile } from '../json/read-json-file.ts';
import { filesIn, planIn, type RestorePaths } from './restore-paths.ts';

/** One swap: `outs` are moved out of the data folder, `ins` into it. */
export type Journal = { kind: 'restore' | 'undo'; plan: RestorePlan; outs: string[]; ins: string[] };

/** The plan of the replaced state, with the names that took its place. */
export type Replaced = RestorePlan & { put: string[] };

/** The system's rename; tests replace it with one that ends the process. */
export type Rename = (from: string, to: string) => void;

/**
 * Writes the journal of a swap. Before that nothing is changed; after it the swap is completed, by this process or by the
 * next one (`resume`).
 */
export function begin(paths: RestorePaths, journal: Journal): void {
  const { to } = endsOf(paths, journal);
  rmSync(to, { recursive: true, force: true });
  makePrivateDir(to);
  makePrivateDir(filesIn(to));
  syncFolderSync(paths.folder);
  writeFileAtomic(paths.journal, JSON.stringify(journal));
  syncFolderSync(paths.folder);
}

/** Completes the swap in the journal. What remains to be done follows from where each file is. */
export function resume(paths: RestorePaths, journal: Journal, rename: Rename = renameSync): void {
  const { from, to } = endsOf(paths, journal);
  const at = (folder: string, name: string) => path.join(folder, name);
  for (const name of journal.outs) {
    if (!exists(at(filesIn(to), name))) rename(at(paths.root, name), at(filesIn(to), name));
  }
  syncFolderSync(filesIn(to));
  for (const name of journal.ins) {
    if (exists(at(filesIn(from), name))) rename(at(filesIn(from), name), at(paths.root, name));
  }
  syncFolderSync(paths.root);
  // Only now is it complete and can be put back.
  const put: Replaced = { ...journal.plan, put: journal.ins };
  writeFileAtomic(planIn(to), JSON.stringify(put));
  rmSync(from, { recursive: true, force: true });
  rmSync(paths.undo, { force: true });
  syncFolderSync(paths.folder);
  rmSync(paths.journal, { force: true });
  syncFolderSync(paths.folder);
  // Only after the journal is gone: until then, whatever is missing here counts as still to be moved.
  if (journal.kind === 'undo') rmSync(to, { recursive: true, force: true });
}

export const readJournal = (paths: RestorePaths): Journal | null => readJsonFile(paths.journal) as Journal | null;

/** The names that are ready to be moved in. */
export function incomingNames(folder: string): string[] {
  mkdirSync(filesIn(folder), { recursive: true, mode: 0o700 });
  return readdirSync(filesIn(folder));
}

/** The first name that is a mount point, or null. A mount cannot be renamed, so with one no swap may begin. */
export function foreignName({ root, folder }: RestorePaths, names: readonly string[]): string | null {
  const { dev } = lstatSync(folder);
  return names.find((name) => lstatSync(path.join(root, name)).dev !== dev) ?? null;
}

const endsOf = (paths: RestorePaths, { kind }: Journal) =>
  kind === 'restore' ? { from: paths.pending, to: paths.replaced } : { from: paths.replaced, to: paths.discarded };

const exists = (file: string): boolean => lstatSync(file, { throwIfNoEntry: false }) !== undefined;

/** `collector-search.db` is derived from exactly this `collector.db`, so the two move together. */
const databases = ['core.db', 'manager.db', 'collector.db', 'collector-search.db'];
/** Files that SQLite keeps beside a database and that are part of it. */
const companions = ['', '-wal', '-shm', '-journal'];

/** Every backup decides about these: what it lacks did not exist. */
const always = [
  ...databases.flatMap((name) => companions.map((ending) => `${name}${ending}`)),
  'trust.seed.json',
  'pricing.json',
  'instances',
  'uploads',
  'silos',
];
/** Older backups may lack these without meaning that they did not exist. */
const ifIncoming = ['moderation.deny.txt', 'persona.md', 'personas', 'connectors'];
/** Included only when secrets are restored too. */
const secret = ['secrets.json', 'vault'];

/** The files and folders of the data folder that a restore moves aside. */
export function stateNames(root: string, secrets: 'restored' | 'kept', incoming: readonly string[]): string[] {
  // A backup may contain only some secrets; the others stay.
  const maybe = secrets === 'kept' ? ifIncoming : [...ifIncoming, ...secret];
  const names = [...always, ...maybe.filter((name) => incoming.includes(name))];
  const present = new Set(readdirSync(root));
  return names.filter((name) => present.has(name));
}
