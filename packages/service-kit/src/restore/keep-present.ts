import { cpSync, lstatSync, readdirSync, renameSync, rmSync, type Dirent, copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { makePrivateDir, ifThereSync } from '../files.ts';
import { isSecretFile, maxPlainBytes } from './secret-files.ts';

/**
 * True for a file or folder name that backups include from the operator's connectors: no packages, nothing hidden (`.env`,
 * `.git`), no key files.
 */
export const isConnectorPart = (name: string): boolean =>
  !name.startsWith('.') && name.toLowerCase() !== 'node_modules' && !/\.(?:pem|p12|pfx|der|key)$/i.test(name);

/**
 * Completes the incoming connectors with what no backup includes of the present ones, and with present ones that this backup
 * lacks. It runs before the journal is written, and can be repeated.
 */
export function keepConnectors(root: string, incoming: string): void {
  const [from, to] = [path.join(root, 'connectors'), path.join(incoming, 'connectors')];
  const half = path.join(path.dirname(incoming), 'keeping');
  rmSync(half, { recursive: true, force: true });
  if (!isFolder(to)) return;
  for (const entry of entriesOf(from)) {
    const [present, wanted] = [path.join(from, entry.name), path.join(to, entry.name)];
    if (isFolder(wanted) && entry.isDirectory()) keepLeftOut(present, wanted, half);
    else copyWhole(present, wanted, half);
  }
}

/** For a connector in the backup: copies what backups exclude. Its code is taken from the backup. */
function keepLeftOut(from: string, to: string, half: string): void {
  for (const entry of entriesOf(from)) {
    const [present, wanted] = [path.join(from, entry.name), path.join(to, entry.name)];
    if (entry.isSymbolicLink() || !isConnectorPart(entry.name)) copyWhole(present, wanted, half);
    else if (entry.isDirectory() && isFolder(wanted)) keepLeftOut(present, wanted, half);
  }
}

/** Copies atomically: a target that exists is complete. Links stay links, and files from the backup are not replaced. */
function copyWhole(from: string, to: string, half: string): void {
  if (lstatSync(to, { throwIfNoEntry: false }) !== undefined) return;
  const isCopied = (file: string) => {
    const found = lstatSync(file);
    return found.isFile() || found.isDirectory() || found.isSymbolicLink();
  };
  if (!isCopied(from)) return;
  cpSync(from, half, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true, filter: isCopied });
  renameSync(half, to);
}

const entriesOf = (folder: string): Dirent[] => ifThereSync(() => readdirSync(folder, { withFileTypes: true }), []);

const isFolder = (file: string): boolean => lstatSync(file, { throwIfNoEntry: false })?.isDirectory() === true;

/**
 * Copies the present secret files of connector instances to the incoming instances, which have none. It runs before the
 * journal is written, and can be repeated.
 */
export function keepSecrets(root: string, incoming: string, read: (file: string) => Buffer = (file) => readFileSync(file)): void {
  const instances = path.join(root, 'instances');
  for (const file of filesBelow(instances)) {
    const from = path.join(instances, file);
    // A large file counts as secret, and Node cannot read one over 2 GiB.
    if (lstatSync(from).size <= maxPlainBytes && !isSecretFile(file, read(from))) continue;
    const to = path.join(incoming, 'instances', file);
    makePrivateDir(path.join(incoming, 'instances'));
    mkdirSync(path.dirname(to), { recursive: true, mode: 0o700 });
    copyFileSync(from, to);
  }
}

/** The plain files, by their paths under `folder`. Node's recursive listing is not used because it follows links to folders. */
function filesBelow(folder: string, inside = ''): string[] {
  return entriesOf(path.join(folder, inside)).flatMap((entry) => {
    const place = path.join(inside, entry.name);
    if (entry.isDirectory()) return filesBelow(folder, place);
    return entry.isFile() ? [place] : [];
  });
}
