import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { ManifestEntry, UploadedFile } from '@svc/contract/upload.ts';
import { toFile } from './manifest.ts';
import { type Area, publish } from './publish.ts';
import type { Staging } from './staging.ts';
import { storeStream, tooLarge } from '../file/store-stream.ts';

/** Writes a body to the data file of an upload. @throws ServiceError `too_large`, `bad_request` for one that was cut off. */
export async function storeWhole(
  staging: Staging,
  id: string,
  body: Readable,
  maxBytes: number,
): Promise<{ size: number; sha256: string }> {
  const hash = createHash('sha256');
  const handle = await staging.begin(id);
  try {
    const size = await storeStream(body, {
      handle,
      position: 0,
      maxBytes,
      tooMuch: () => tooLarge(maxBytes, 'SVC_RAW_BODY_LIMIT'),
      onBytes: (part) => void hash.update(part),
    });
    return { size, sha256: hash.digest('hex') };
  } finally {
    await handle.close();
  }
}

/** Publishes the stored file, or removes all of it. */
export async function publishWhole(area: Area, entry: ManifestEntry): Promise<UploadedFile> {
  try {
    await publish(area, entry, entry.bytes);
  } catch (error) {
    await takeBack(area, entry);
    throw error;
  }
  await area.staging.remove(entry.id);
  return toFile(entry);
}

/** The sender gets an error, so nothing of the file stays unless its line was written. */
async function takeBack({ staging, manifest }: Area, { id, path: file }: ManifestEntry): Promise<void> {
  if ((await staging.decision(id)) !== null && (await manifest.find(id)) === null) await rm(file, { force: true });
  await staging.remove(id);
}
