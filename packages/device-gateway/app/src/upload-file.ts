import type { UploadedFile, UploadState } from '@svc/contract/upload.ts';
import type { OutgoingFile } from '@svc/chat-ui/outbox/outbox.ts';

type Calls = {
  json<T>(method: string, path: string, body?: unknown): Promise<T>;
  raw(method: string, path: string, body: Blob, timeoutMs: number): Promise<Response>;
  /** Whether this is the gateway's word that something is not there. */
  isUnknown(error: unknown): boolean;
};

type Begun = Omit<UploadState, 'file'>;

/** Up to here one request is soon made again. */
const maxWhole = 4 * 1024 * 1024;
const timeoutMs = 10 * 60_000;

/**
 * Brings a file to the gateway, and gives its path there. A large one goes in chunks: `keep` is told of the upload's id, and with it the next try goes on
 * where this one broke off.
 */
export async function uploadFile(calls: Calls, file: OutgoingFile, keep: () => Promise<void>): Promise<string> {
  const { blob, name, mime } = file;
  if (blob === null) throw new Error(`${name} is not on this device any more.`);
  if (blob.size <= maxWhole) {
    const where = `/gw/upload?${new URLSearchParams({ filename: name, mime })}`;
    return pathOf((await (await calls.raw('POST', where, blob, timeoutMs)).json()) as { file: UploadedFile });
  }
  const { upload_id, chunk_size, chunks, received } = await goOn(calls, file, blob, keep);
  const at = `/gw/uploads/${upload_id}`;
  const known = new Set(received);
  for (let index = 0; index < chunks; index++) {
    if (known.has(index)) continue;
    const chunk = blob.slice(index * chunk_size, (index + 1) * chunk_size, 'application/octet-stream');
    await calls.raw('PUT', `${at}?index=${index}`, chunk, timeoutMs);
  }
  return pathOf(await calls.json<{ file: UploadedFile }>('POST', at, {}));
}

const pathOf = ({ file }: { file: UploadedFile }): string => file.path;

/** Where the upload stands; a new one where there is none, or it was given up in the meantime. */
async function goOn(calls: Calls, file: OutgoingFile, blob: Blob, keep: () => Promise<void>): Promise<Begun> {
  if (file.upload_id != null) {
    try {
      return await calls.json<Begun>('GET', `/gw/uploads/${file.upload_id}`);
    } catch (error) {
      if (!calls.isUnknown(error)) throw error;
    }
  }
  const begun = await calls.json<Begun>('POST', '/gw/uploads', { filename: file.name, mime: file.mime, size: blob.size });
  file.upload_id = begun.upload_id;
  await keep();
  return begun;
}
