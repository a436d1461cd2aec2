import { readdirSync } from 'node:fs';

const databases = ['core.db', 'manager.db', 'collector.db'];
/** Files that SQLite keeps beside a database, and one of version 0.1 (import-redo.ts). Without its own, a database is another one. */
const companions = ['', '-wal', '-shm', '-journal', '-redo'];

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
const ifIncoming = ['moderation.deny.txt', 'persona.md', 'connectors'];
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
