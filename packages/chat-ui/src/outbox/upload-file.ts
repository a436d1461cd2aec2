import type { UploadedFile, UploadState } from '@svc/contract/upload.ts';
import type { OutgoingFile } from './outbox.ts';

type Begun = Omit<UploadState, 'file'>;
type Arrived = { file: Pick<UploadedFile, 'path'> };

/** The calls of an upload, wherever it goes. Each rejects when it is refused or does not arrive. */
export type UploadCalls = {
  /** The whole file in one request. */
  whole(file: OutgoingFile, blob: Blob): Promise<Arrived>;
  begin(file: { filename: string; mime: string; size: number }): Promise<Begun>;
  state(uploadId: string): Promise<Begun>;
  chunk(uploadId: string, index: number, bytes: Blob): Promise<unknown>;
  finish(uploadId: string): Promise<Arrived>;
  /** Whether this is the server's word that there is no such upload. */
  isUnknown(error: unknown): boolean;
};

/** Up to here one request is soon made again. */
const maxWhole = 4 * 1024 * 1024;

/**
 * Brings a file to the server, and gives its path there. A large one goes in chunks: `keep` is told of the upload's id, and with it the next try goes on
 * where this one broke off, after a reload too.
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

/** Where the upload stands; a new one where there is none, or it was given up in the meantime. */
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
