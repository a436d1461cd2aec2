import { lstat, readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import type { DataPaths } from '@svc/service-kit/config/data-dir.ts';
import { isSecretFile } from '@svc/service-kit/restore/secret-files.ts';
import { isArchiveName } from './archive-names.ts';
import type { SecretFile } from './seal-secrets.ts';

/** A file to be packed. Of one that only ever grows exactly the first `bytes` are taken. */
export type PackedFile = { name: string; file: string; bytes: number; grows?: true };

type Places = Pick<DataPaths, 'root' | 'instances' | 'uploads' | 'silos' | 'trustSeed'>;

/** What is in the clear: configuration, uploads without what is still on its way, silos. */
export async function gatherFiles(paths: Places): Promise<PackedFile[]> {
  const singles = ['trust.seed.json', 'pricing.json'].map((name) => sized(name, path.join(paths.root, name)));
  // The list before the files: each of its lines has its file then.
  const manifest = await sized('uploads/manifest.jsonl', path.join(paths.uploads, 'manifest.jsonl'));
  const uploads = await below('uploads', paths.uploads);
  const found = [
    ...(await Promise.all(singles)),
    ...(await plainInstanceFiles(paths)),
    manifest === null ? null : { ...manifest, grows: true as const },
    ...uploads.filter(({ name }) => name !== 'uploads/manifest.jsonl' && !name.endsWith('.part')),
    ...(await below('silos', paths.silos)),
  ];
  return found.filter((file) => file !== null).filter(({ name }) => isArchiveName(name));
}

async function plainInstanceFiles(paths: Places): Promise<PackedFile[]> {
  const files = await below('instances', paths.instances);
  const plain = await Promise.all(
    files.map(async ({ name, file }) => !isSecretFile(name.split('/').slice(2).join('/'), await readFile(file))),
  );
  return files.filter((_, index) => plain[index]);
}

/** What goes only under a passphrase. */
export async function gatherSecrets(paths: Places, secretsFile: string): Promise<SecretFile[]> {
  const files = await below('instances', paths.instances);
  const secrets: SecretFile[] = [];
  for (const { name, file } of files) {
    const bytes = await readFile(file);
    if (isSecretFile(name.split('/').slice(2).join('/'), bytes)) secrets.push({ path: name, bytes });
  }
  // One in another place is not part of this installation's data.
  const own = path.join(paths.root, 'secrets.json');
  if (secretsFile === own && (await sized('secrets.json', own)) !== null) {
    secrets.push({ path: 'secrets.json', bytes: await readFile(own) });
  }
  return secrets;
}

/** Plain files below a folder, none through a link, in order of their names. */
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

async function entriesOf(folder: string) {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Null for what is gone, or no plain file. */
export async function sized(name: string, file: string): Promise<PackedFile | null> {
  try {
    const found = await lstat(file);
    return found.isFile() ? { name, file, bytes: found.size } : null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
