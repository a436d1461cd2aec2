import { constants } from 'node:fs';
import { copyFile, lstat, mkdir, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { ManifestEntry } from '@svc/contract/upload.ts';
import { ifThere, syncFolder } from '@svc/service-kit/files.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import type { Manifest } from './manifest.ts';
import type { Staging } from './staging.ts';

/** The end of an upload waits for a sync of at most this much. */
const syncAtOnceBytes = 32 * 1024 * 1024;

/** What is needed to finish or delete an upload. */
export type Area = {
  folder: string;
  staging: Staging;
  manifest: Manifest;
  onLateFault: (entry: ManifestEntry, error: unknown) => void;
};

/**
 * Makes a staged and verified file a file of the upload area, with its line in the manifest. The decision is on the disk before anything
 * moves, and every step can be repeated, so `publishAgain` completes what a crash interrupts: there is never a line without its file nor,
 * in the end, a file without its line. A killed process loses no written bytes; only a power failure does: a file that arrives faster than
 * the disk writes is synced after its end, and `onLateFault` is called when that fails. `unsynced`: how many of its bytes may not be on the
 * disk; `sync` writes them.
 */
export async function publish(
  { staging, manifest, onLateFault }: Area,
  entry: ManifestEntry,
  unsynced: number,
  sync: () => Promise<void> = () => syncFile(staging.dataOf(entry.id)),
): Promise<void> {
  await makeFolder(path.dirname(entry.path));
  const isSyncedFirst = unsynced <= syncAtOnceBytes;
  if (isSyncedFirst) await sync();
  staging.decide(entry.id, entry);
  await move(staging.dataOf(entry.id), entry.path);
  await manifest.append(entry);
  if (!isSyncedFirst) syncFile(entry.path).catch((error: unknown) => onLateFault(entry, error));
}

/** Completes what an earlier process began: any step after the decision may be missing. Null while nothing is decided. */
export async function publishAgain({ staging, manifest }: Area, id: string): Promise<ManifestEntry | null> {
  const entry = await staging.decision(id);
  if (entry === null) return null;
  await makeFolder(path.dirname(entry.path));
  if (await exists(staging.dataOf(entry.id))) await move(staging.dataOf(entry.id), entry.path);
  if ((await manifest.find(entry.id)) === null && (await exists(entry.path))) await manifest.append(entry);
  return entry;
}

/** From another file system, the file is copied to a temporary name first, so that it appears complete. */
async function move(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    // No finished file's name begins like this one.
    const part = path.join(path.dirname(to), `.${path.basename(to)}.part`);
    await rm(part, { force: true });
    await copyFile(from, part, constants.COPYFILE_EXCL);
    await syncFile(part);
    await rename(part, to);
    await rm(from, { force: true });
  }
  await syncFolder(path.dirname(to));
}

/** A link instead of a folder would lead files out of the area. */
async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (!(await lstat(folder)).isDirectory()) {
    throw new ServiceError('internal', `${folder} is not a folder, so nothing can be stored there. Remove it.`);
  }
}

async function syncFile(file: string): Promise<void> {
  const handle = await open(file, constants.O_RDWR | constants.O_NOFOLLOW);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const exists = async (file: string): Promise<boolean> => (await ifThere(lstat(file), null)) !== null;
