import { lstatSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { RestorePlan } from '@svc/contract/backup.ts';
import { makePrivateDir, writeFileAtomic, syncFolderSync } from '../files.ts';
import { readJsonFile } from '../json/read-json-file.ts';
import { filesIn, planIn, type RestorePaths } from './restore-paths.ts';

/** One exchange of names: `outs` leave the data folder, `ins` come into it. */
export type Journal = { kind: 'restore' | 'undo'; plan: RestorePlan; outs: string[]; ins: string[] };

/** The plan of what was put aside, with the names that were put in its place. */
export type Replaced = RestorePlan & { put: string[] };

/** The system's renaming; tests put one in its place that ends the process. */
export type Rename = (from: string, to: string) => void;

/**
 * Writes down what is to be exchanged. Up to here all is as it was; from here on the exchange is made, by this process
 * or by the next one (`goOn`).
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

/** Makes the exchange that was written down, or what is left of it. Each step is seen from what lies where. */
export function goOn(paths: RestorePaths, journal: Journal, rename: Rename = renameSync): void {
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
  // Only now is it something that can be put back.
  const put: Replaced = { ...journal.plan, put: journal.ins };
  writeFileAtomic(planIn(to), JSON.stringify(put));
  rmSync(from, { recursive: true, force: true });
  rmSync(paths.undo, { force: true });
  syncFolderSync(paths.folder);
  rmSync(paths.journal, { force: true });
  syncFolderSync(paths.folder);
  // After the journal: as long as that stands, what is missing here counts as still to be put aside.
  if (journal.kind === 'undo') rmSync(to, { recursive: true, force: true });
}

export const readJournal = (paths: RestorePaths): Journal | null => readJsonFile(paths.journal) as Journal | null;

/** What lies ready to come in. */
export function incomingNames(folder: string): string[] {
  mkdirSync(filesIn(folder), { recursive: true, mode: 0o700 });
  return readdirSync(filesIn(folder));
}

/** A mount in the place of a folder cannot be renamed away, so nothing may be begun. Gives the first one. */
export function foreignName({ root, folder }: RestorePaths, names: readonly string[]): string | null {
  const { dev } = lstatSync(folder);
  return names.find((name) => lstatSync(path.join(root, name)).dev !== dev) ?? null;
}

const endsOf = (paths: RestorePaths, { kind }: Journal) =>
  kind === 'restore' ? { from: paths.pending, to: paths.replaced } : { from: paths.replaced, to: paths.discarded };

const exists = (file: string): boolean => lstatSync(file, { throwIfNoEntry: false }) !== undefined;

/** `collector-search.db` is made of `collector.db`, and of no other one: it goes and comes with it. */
const databases = ['core.db', 'manager.db', 'collector.db', 'collector-search.db'];
/** Files that SQLite keeps beside a database. Without its own, a database is another one. */
const companions = ['', '-wal', '-shm', '-journal'];

/** What a backup always holds, or holds the absence of. */
const always = [
  ...databases.flatMap((name) => companions.map((ending) => `${name}${ending}`)),
  'trust.seed.json',
  'pricing.json',
  'instances',
  'uploads',
  'silos',
];
/** What not every backup knew of: one without them says nothing about those that are here. */
const ifIncoming = ['moderation.deny.txt', 'persona.md', 'personas', 'connectors'];
/** What it holds only when its secrets are restored too. */
const secret = ['secrets.json', 'vault'];

/** Which files and folders of the data folder a restore puts aside. */
export function stateNames(root: string, secrets: 'restored' | 'kept', incoming: readonly string[]): string[] {
  // A backup may hold some secrets only; the others stay.
  const maybe = secrets === 'kept' ? ifIncoming : [...ifIncoming, ...secret];
  const names = [...always, ...maybe.filter((name) => incoming.includes(name))];
  const present = new Set(readdirSync(root));
  return names.filter((name) => present.has(name));
}
