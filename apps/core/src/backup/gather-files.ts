import { lstat, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Dirent } from 'node:fs';
import type { DataPaths } from '@svc/service-kit/config/data-dir.ts';
import { ifThere } from '@svc/service-kit/files.ts';
import { isSecretFile, isSecretName, maxPlainBytes } from '@svc/service-kit/restore/secret-files.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { isConnectorPart } from '@svc/service-kit/restore/keep-present.ts';
import { foldedName, isArchiveName, isSecretPath } from './archive-rules.ts';
import type { SecretFile } from './seal-secrets.ts';

/** A file to be packed, under `name`. `isPlain`: whether its content, which may have changed meanwhile, may be packed unencrypted. */
export type PackedFile = { name: string; file: string; bytes: number; isPlain?: (content: Buffer) => boolean };

/** What a backup lacks: a connector of the operator that is too large, or a file whose name some systems cannot tell from another's. */
export type LeftOut = { connector: string } | { file: string };

/** Secret files are sealed and opened in one piece, in memory. */
const maxSecretBytes = 128 * 1024 * 1024;

const tooMuch = ({ name }: PackedFile) =>
  new ServiceError(
    'too_large',
    `The connector files that may contain secrets are larger than the ${maxSecretBytes} bytes that can be sealed (${name}). Make the ` +
      'backup without secrets, and copy the folder "instances" yourself.',
  );

export type FilePlaces = Pick<
  DataPaths,
  'connectors' | 'denyList' | 'instances' | 'persona' | 'personas' | 'prices' | 'secrets' | 'silos' | 'trustSeed' | 'uploads'
>;

type GatherOptions = {
  /** A copy of the list of uploads made before this call, so that each of its lines has its file. */
  manifest: string;
  /** Names of the files that are packed encrypted. */
  sealed?: ReadonlySet<string>;
  onLeftOut?(leftOut: LeftOut): void;
};

export const manifestName = 'uploads/manifest.jsonl';

/** Gathers the unencrypted files: configuration, code of connectors, finished uploads, silos. */
export async function gatherFiles(paths: FilePlaces, { manifest, sealed, onLeftOut }: GatherOptions): Promise<PackedFile[]> {
  const connectors = await gatherConnectors(paths.connectors);
  for (const connector of connectors.leftOut) onLeftOut?.({ connector });
  const singles = [paths.trustSeed, paths.prices, paths.denyList, paths.persona].map((file) => sized(path.basename(file), file));
  const uploads = await below('uploads', paths.uploads);
  const found = [
    ...(await Promise.all(singles)),
    ...(await plainInstanceFiles(paths)),
    ...connectors.files,
    await sized(manifestName, manifest),
    ...uploads.filter(({ name }) => name !== manifestName && !name.endsWith('.part')),
    ...(await below('personas', paths.personas)),
    ...(await below('silos', paths.silos)),
  ];
  const packed = found.filter((file) => file !== null).filter(({ name }) => isArchiveName(name) && sealed?.has(name) !== true);
  return withClearNames(packed, (file) => onLeftOut?.({ file }));
}

async function plainInstanceFiles(paths: FilePlaces): Promise<PackedFile[]> {
  const plain: PackedFile[] = [];
  for (const found of await below('instances', paths.instances)) {
    const isPlain = (content: Buffer) => !isSecretFile(ownName(found), content);
    if ((await isSecret(found)) === false) plain.push({ ...found, isPlain });
  }
  return plain;
}

/** A restore refuses names that some systems cannot tell apart: the first of them is packed. */
function withClearNames(files: readonly PackedFile[], onLeftOut: (name: string) => void): PackedFile[] {
  const taken = new Set<string>();
  return files.filter(({ name }) => {
    const isTaken = taken.size === taken.add(foldedName(name)).size;
    if (isTaken) onLeftOut(name);
    return !isTaken;
  });
}

/** The path within the folder of its instance. */
const ownName = ({ name }: PackedFile): string => name.split('/').slice(2).join('/');

/** Null for a file that has disappeared. A large file is not read: it counts as secret. */
async function isSecret(found: PackedFile): Promise<boolean | null> {
  const own = ownName(found);
  if (isSecretName(own) || found.bytes > maxPlainBytes) return true;
  const content = await ifThere(readFile(found.file), null);
  return content === null ? null : isSecretFile(own, content);
}

/** Gathers the files that are packed only with a passphrase. @throws ServiceError `too_large` for more than can be sealed. */
export async function gatherSecrets(paths: FilePlaces, secretsFile: string): Promise<SecretFile[]> {
  const secrets: SecretFile[] = [];
  let room = maxSecretBytes;
  for (const found of await below('instances', paths.instances)) {
    // Under other names they would not be restored.
    if (!isSecretPath(found.name) || (await isSecret(found)) !== true) continue;
    room -= found.bytes;
    if (room < 0) throw tooMuch(found);
    const bytes = await ifThere(readFile(found.file), null);
    if (bytes !== null) secrets.push({ path: found.name, bytes });
  }
  // One in another place is not part of this installation's data.
  const own = paths.secrets;
  if (secretsFile === own && (await sized('secrets.json', own)) !== null) {
    secrets.push({ path: 'secrets.json', bytes: await readFile(own) });
  }
  return secrets;
}

/** Regular files below a folder, sorted by name. Links are not followed. */
async function below(prefix: string, folder: string): Promise<PackedFile[]> {
  const found: PackedFile[] = [];
  for (const entry of await entriesOf(folder)) {
    const [name, file] = [`${prefix}/${entry.name}`, path.join(folder, entry.name)];
    if (name === 'uploads/.staging') continue;
    if (entry.isDirectory()) found.push(...(await below(name, file)));
    const own = entry.isFile() ? await sized(name, file) : null;
    if (own !== null) found.push(own);
  }
  return found;
}

/** Limits of one connector. Code is far smaller; a larger folder contains data or packages. */
const [maxFiles, maxBytes] = [2000, 32 * 1024 * 1024];

type GatheredConnectors = { files: PackedFile[]; leftOut: string[] };

/** The code of the operator's own connectors. One that is too large, or has names that some systems cannot tell apart, is left out. */
async function gatherConnectors(folder: string): Promise<GatheredConnectors> {
  const gathered: GatheredConnectors = { files: [], leftOut: [] };
  const taken = new Set<string>();
  if (!(await isFolder(folder))) return gathered;
  for (const entry of await entriesOf(folder)) {
    // Other names are not connectors, but packages or an editor's leftovers.
    if (!entry.isDirectory() || !isConnectorPart(entry.name)) continue;
    const found: PackedFile[] = [];
    const isWhole = await gatherConnector(`connectors/${entry.name}`, path.join(folder, entry.name), found);
    const keys = found.map(({ name }) => foldedName(name));
    const isClear = new Set(keys).size === keys.length && keys.every((key) => !taken.has(key));
    if (!isWhole || !isClear) gathered.leftOut.push(entry.name);
    else {
      gathered.files.push(...found);
      for (const key of keys) taken.add(key);
    }
  }
  return gathered;
}

/** Collects regular files without following links. False as soon as they are too many or too large. */
async function gatherConnector(prefix: string, folder: string, found: PackedFile[]): Promise<boolean> {
  for (const entry of await entriesOf(folder)) {
    const [name, file] = [`${prefix}/${entry.name}`, path.join(folder, entry.name)];
    // A folder is opened only if it may contain allowed names.
    if (!isArchiveName(entry.isDirectory() ? `${name}/x` : name)) continue;
    if (entry.isDirectory() && !(await gatherConnector(name, file, found))) return false;
    const own = entry.isFile() ? await sized(name, file) : null;
    if (own !== null) found.push(own);
    if (found.length > maxFiles || found.reduce((sum, { bytes }) => sum + bytes, 0) > maxBytes) return false;
  }
  return true;
}

/** False for a link, which could lead anywhere on this machine. */
const isFolder = async (folder: string): Promise<boolean> => (await ifThere(lstat(folder), null))?.isDirectory() === true;

/** Sorted by name; empty when there is no folder. */
async function entriesOf(folder: string): Promise<Dirent[]> {
  const entries = await ifThere(readdir(folder, { withFileTypes: true }), []);
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Null for a path that has disappeared or is not a regular file. */
export async function sized(name: string, file: string): Promise<PackedFile | null> {
  const found = await ifThere(lstat(file), null);
  return found?.isFile() === true ? { name, file, bytes: found.size } : null;
}
