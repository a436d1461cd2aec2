import { lstat, rm } from 'node:fs/promises';
import path from 'node:path';
import type { DeletedUpload, ManifestEntry } from '@svc/contract/upload.ts';
import { ifThere, syncFolder } from '@svc/service-kit/files.ts';
import { conflict, notFound } from '@svc/service-kit/service-error.ts';
import { findUpload } from '@svc/service-kit/upload-file.ts';
import { toFile } from './manifest.ts';
import { type Area, publishAgain } from './publish.ts';
import { isUploadId } from './staging.ts';

/**
 * Deletes a file of the upload area; its line stays in the manifest, and a second line marks it as deleted. The decision is on the disk
 * first, and every step can be repeated: `finishDeletion` completes what a crash cuts off.
 * @throws ServiceError `not_found`; `conflict` when something else is in its place.
 */
export async function deleteFile(area: Area, id: string, now: number): Promise<DeletedUpload> {
  const { staging, manifest, folder } = area;
  // An interrupted deletion is continued; an interrupted upload gets its line first.
  const entry = (await staging.tombstone(id)) ?? (await publishAgain(area, id)) ?? (await manifest.find(id));
  if (entry === null || !isUploadId(id)) throw notFound('file', id);
  const found = findUpload(folder, entry.path);
  if (found === 'outside' || found === 'not_a_file')
    throw conflict(
      `The file at ${entry.path} is not the one that was uploaded, so it was not deleted. Check it, and delete it yourself.`,
    );
  const links = (await ifThere(lstat(entry.path), null))?.nlink ?? 0;
  const tombstone = { ...entry, deleted_at: entry.deleted_at ?? now };
  staging.bury(tombstone);
  await finishDeletion(area, tombstone);
  return { ok: true, file: toFile(entry), deleted_at: tombstone.deleted_at, kept_by_conversations: links > 1 };
}

/** Completes a decided deletion: any of its steps may be missing. */
export async function finishDeletion({ folder, staging, manifest }: Area, tombstone: ManifestEntry): Promise<void> {
  if (!(await manifest.isDeleted(tombstone.id))) await manifest.append(tombstone);
  // Another file that took its place meanwhile is not ours to remove.
  if (typeof findUpload(folder, tombstone.path) !== 'string') {
    await rm(tombstone.path, { force: true });
    await syncFolder(path.dirname(tombstone.path));
  }
  await staging.remove(tombstone.id);
}
