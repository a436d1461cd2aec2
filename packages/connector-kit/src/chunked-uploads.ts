import type { UploadedFile, UploadState } from '@svc/contract/upload.ts';
import { fileOf, type UploadTransport } from './upload-transport.ts';

/** Describes a file that is sent in chunks. `size`: bytes. `sha256`: of the whole file, checked at the end. */
export type FileInChunks = { name: string; mime: string; size: number; sha256?: string; conversation_key: string };
/** Identifies one upload in chunks, of one conversation. */
export type UploadPlace = { upload_id: string; conversation_key: string };

/**
 * Files in chunks. Chunks may come in any order and repeatedly, also across restarts. An upload that receives nothing for a day is removed.
 * Each method rejects with a `ServiceError` of the core, `not_found` for an upload of another conversation.
 */
export type ChunkedUploads = {
  begin(file: FileInChunks): Promise<UploadState>;
  state(place: UploadPlace): Promise<UploadState>;
  /** `sha256`: of the chunk, checked when it has arrived. */
  put(
    place: UploadPlace & { index: number; sha256?: string | undefined },
    data: AsyncIterable<Uint8Array>,
  ): Promise<{ received_count: number; chunks: number }>;
  finish(place: UploadPlace & { sha256?: string | undefined }): Promise<UploadedFile>;
  discard(place: UploadPlace): Promise<void>;
};

const root = '/v2/upload';

export function createChunkedUploads(send: UploadTransport): ChunkedUploads {
  const to = (method: string, { upload_id, conversation_key }: UploadPlace, more: Partial<Request> = {}) =>
    send({ method, path: `${root}/${encodeURIComponent(upload_id)}${more.below ?? ''}`, query: { conversation_key }, ...more });
  return {
    async begin({ name, ...file }) {
      return (await send({
        method: 'POST',
        path: `${root}/init`,
        query: {},
        ...jsonOf({ filename: name, ...file }),
      })) as UploadState;
    },
    state: async (place) => (await to('GET', place)) as UploadState,
    async put({ index, sha256, ...place }, data) {
      const headers = { 'content-type': 'application/octet-stream', ...(sha256 !== undefined && { 'x-chunk-sha256': sha256 }) };
      const { received_count, chunks } = await to('PUT', place, { below: `/${index}`, headers, data });
      return { received_count: Number(received_count), chunks: Number(chunks) };
    },
    finish: async ({ sha256, ...place }) => fileOf(await to('POST', place, { below: '/finish', ...jsonOf({ sha256 }) })),
    discard: async (place) => void (await to('DELETE', place)),
  };
}

type Request = Parameters<UploadTransport>[0] & { below: string };

const jsonOf = (body: object) => ({ headers: { 'content-type': 'application/json' }, data: Buffer.from(JSON.stringify(body)) });
