import type { UploadedFile, UploadState } from '@svc/contract/upload.ts';
import type { OutgoingFile } from './outbox.ts';

type Begun = Omit<UploadState, 'file'>;
type Arrived = { file: Pick<UploadedFile, 'path'> };

/** The requests of an upload. Each rejects when it is refused or fails. */
export type UploadCalls = {
  /** The whole file in one request. */
  whole(file: OutgoingFile, blob: Blob): Promise<Arrived>;
  begin(file: { filename: string; mime: string; size: number }): Promise<Begun>;
  state(uploadId: string): Promise<Begun>;
  chunk(uploadId: string, index: number, bytes: Blob): Promise<unknown>;
  finish(uploadId: string): Promise<Arrived>;
  /** Whether an error means that the server does not know the upload. */
  isUnknown(error: unknown): boolean;
};

/** Files up to this size are sent in one request, which is cheap to repeat. */
const maxWhole = 4 * 1024 * 1024;

/**
 * Uploads a file and returns its path on the server. A large file is sent in chunks: `keep` stores the upload's id, so that the
 * next attempt continues where this one stopped, even after a reload.
 */
export async function uploadFile(calls: UploadCalls, file: OutgoingFile, blob: Blob, keep: () => Promise<void>): Promise<string> {
  if (blob.size <= maxWhole) return (await calls.whole(file, blob)).file.path;
  const { upload_id, chunk_size, chunks, received } = await goOn(calls, file, blob, keep);
  const known = new Set(received);
  for (let index = 0; index < chunks; index++) {
    if (known.has(index)) continue;
    await calls.chunk(upload_id, index, blob.slice(index * chunk_size, (index + 1) * chunk_size, 'application/octet-stream'));
  }
  return (await calls.finish(upload_id)).file.path;
}

/** The state of the upload; a new upload when there is none or the server no longer knows it. */
async function goOn(calls: UploadCalls, file: OutgoingFile, blob: Blob, keep: () => Promise<void>): Promise<Begun> {
  if (file.upload_id != null) {
    try {
      return await calls.state(file.upload_id);
    } catch (error) {
      if (!calls.isUnknown(error)) throw error;
    }
  }
  const begun = await calls.begin({ filename: file.name, mime: file.mime, size: blob.size });
  file.upload_id = begun.upload_id;
  await keep();
  return begun;
}
