import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { copyFile, rename, stat } from 'node:fs/promises';
import path from 'node:path';
import { type BackupContents, backupFormat } from '@svc/contract/backup.ts';
import type { DataPaths } from '@svc/service-kit/config/data-dir.ts';
import { makePrivateDir, syncFolder } from '@svc/service-kit/files.ts';
import type { SqliteDatabase } from '@svc/store/open-sqlite.ts';
import { usualLimits } from './archive-rules.ts';
import type { BackupNotes } from './backup-notes.ts';
import {
  gatherFiles,
  gatherSecrets,
  type LeftOut,
  manifestName,
  type PackedFile,
  sized,
  type FilePlaces,
} from './gather-files.ts';
import { readArchive } from './read-archive.ts';
import { databaseFiles, readVault, snapshotDatabases } from './snapshot-databases.ts';
import { checkRoom } from '../file/disk-space.ts';
import { sealSecrets, type SecretFile } from './seal-secrets.ts';
import { writeArchive } from './write-archive.ts';

export type BackupPlaces = FilePlaces & Pick<DataPaths, 'root' | 'coreDb' | 'managerDb' | 'collectorDb' | 'vaultDb' | 'backups'>;

export type BackupWork = {
  id: string;
  db: SqliteDatabase;
  paths: BackupPlaces;
  notes: BackupNotes;
  secretsFile: string;
  version: string;
  createdAt: number;
  passphrase: string | null;
  signal: AbortSignal;
  onProgress: (done: number, total: number) => void;
  onLeftOut: (leftOut: LeftOut) => void;
};

export type MadeBackup = { bytes: number; files: number; sha256: string };

/**
 * Makes one backup: takes snapshots, packs everything, reads the archive again to compare it, and only then gives it its
 * final name. @throws ServiceError `insufficient_storage`, or a fault of the disk; only the note of the backup is then left.
 */
export async function makeBackup(work: BackupWork): Promise<MadeBackup> {
  const { id, notes, paths, signal } = work;
  const part = notes.partOf(id);
  await checkRoom(paths.backups, await expectedBytes(paths));
  makePrivateDir(notes.workOf(id));
  const schemas = await snapshotDatabases(work.db, paths, notes.workOf(id), signal);
  signal.throwIfAborted();
  const facts = { format: backupFormat, version: work.version, created_at: work.createdAt, schemas };
  const databases = await snapshotFiles(schemas, notes.workOf(id));
  const manifest = await snapshotManifest(paths, notes.workOf(id));
  const sealed = work.passphrase === null ? [] : await allSecrets(work);
  const secrets = work.passphrase === null ? null : await sealSecrets(sealed, work.passphrase);
  const names = new Set(sealed.map(({ path: name }) => name));
  const plain = await gatherFiles(paths, { manifest, sealed: names, onLeftOut: work.onLeftOut });
  const small = [...databases, ...plain.filter((file) => !isLarge(file))];
  const large = plain.filter(isLarge);
  const total = [...small, ...large].reduce((sum, { bytes }) => sum + bytes, 0);
  let done = 0;
  const contents = await writeArchive(
    part,
    { small, large, secrets, facts },
    {
      signal,
      onBytes: (bytes) => work.onProgress((done += bytes), total),
    },
  );
  const sha256 = await verify(part, contents, signal);
  await rename(part, notes.archiveOf(id));
  await syncFolder(paths.backups);
  return { bytes: (await stat(notes.archiveOf(id))).size, files: contents.files.length, sha256 };
}

const isLarge = ({ name }: PackedFile) => (name.startsWith('uploads/') && name !== manifestName) || name.startsWith('silos/');

/** The most space that snapshots and archive need together. */
async function expectedBytes(paths: BackupPlaces): Promise<number> {
  const manifest = manifestOf(paths);
  const copied = await Promise.all(Object.values(databaseFiles(paths)).map((file) => sized('', file)));
  const list = await sized('', manifest);
  const plain = await gatherFiles(paths, { manifest });
  const sum = (files: readonly (PackedFile | null)[]) => files.reduce((bytes, file) => bytes + (file?.bytes ?? 0), 0);
  return 2 * sum(copied) + sum([list, ...plain]);
}

const manifestOf = ({ uploads }: Pick<FilePlaces, 'uploads'>): string => path.join(uploads, 'manifest.jsonl');

/** Copies the list of uploads, which changes during the backup. Returns the path of the copy; there is no file without a list. */
async function snapshotManifest(paths: FilePlaces, folder: string): Promise<string> {
  const copy = path.join(folder, 'manifest.jsonl');
  if ((await sized('', manifestOf(paths))) !== null) await copyFile(manifestOf(paths), copy);
  return copy;
}

async function snapshotFiles(schemas: BackupContents['schemas'], folder: string): Promise<PackedFile[]> {
  const names = Object.keys(schemas).map((name) => `${name}.db`);
  const files = await Promise.all(names.map((name) => sized(name, path.join(folder, name))));
  return files.filter((file) => file !== null);
}

async function allSecrets({ id, notes, paths, secretsFile }: BackupWork): Promise<SecretFile[]> {
  const vault = await readVault(paths.vaultDb, notes.workOf(id));
  return [...(await gatherSecrets(paths, secretsFile)), ...(vault === null ? [] : [{ path: 'vault/vault.db', bytes: vault }])];
}

/** Reads the archive as a restore would, and compares it with what was packed. Returns the sha256 of the whole file. */
async function verify(file: string, packed: BackupContents, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  const body = createReadStream(file, { highWaterMark: 1024 * 1024, signal });
  body.on('data', (bytes) => hash.update(bytes));
  const nothing = { write: () => Promise.resolve(), end: () => Promise.resolve() };
  const { contents } = await readArchive(body, { ...usualLimits, maxBytes: Infinity }, () => Promise.resolve(nothing));
  if (JSON.stringify(contents) !== JSON.stringify(packed))
    throw new Error('the backup that was written differs from what was packed');
  return hash.digest('hex');
}
