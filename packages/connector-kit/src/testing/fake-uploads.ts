import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { UploadedFile, UploadState } from '@svc/contract/upload.ts';
import { conflict, forbidden, notFound, ServiceError } from '@svc/service-kit/service-error.ts';
import type { ChunkedUploads, FileInChunks, UploadPlace } from '../chunked-uploads.ts';
import type { FileToSave, UploadsApi } from '../connector.ts';

/** A file that a connector saved, with its content. */
export type SavedFile = UploadedFile & { content: Buffer; conversation_key?: string | undefined };

const chunkSize = 8;

/** Serves saved files, and any file that a test has written. Chunks have 8 bytes. */
export function createFakeUploads(saved: SavedFile[]): UploadsApi {
  const keep = (file: FileToSave, content: Buffer): UploadedFile => {
    const { conversation_key } = file;
    const uploaded = toUploaded(file, content, saved.length);
    saved.push({ ...uploaded, content, conversation_key });
    return uploaded;
  };
  return {
    async open(path, of) {
      const found = saved.find((each) => each.path === path);
      if (of !== undefined && found?.conversation_key !== of.conversation_key)
        throw forbidden('Not a file of this conversation.');
      const content = found?.content ?? (await readFile(path));
      return { data: Readable.from([content]), bytes: content.length, mime: 'application/octet-stream' };
    },
    save: async (file) => keep(file, await bytesOf(file.data)),
    chunked: createFakeChunks(keep),
  };
}

type Kept = { file: FileInChunks; state: UploadState; parts: (Buffer | undefined)[] };

function createFakeChunks(keep: (file: FileToSave, content: Buffer) => UploadedFile): ChunkedUploads {
  const uploads = new Map<string, Kept>();
  const find = ({ upload_id, conversation_key }: UploadPlace): Kept => {
    const found = uploads.get(upload_id);
    if (found?.file.conversation_key !== conversation_key) throw notFound('upload', upload_id);
    return found;
  };
  return {
    async begin(file) {
      const chunks = Math.ceil(file.size / chunkSize);
      const upload_id = `upl_${String(uploads.size).padStart(19, '0')}`;
      const state = { upload_id, size: file.size, chunk_size: chunkSize, chunks, received: [] };
      uploads.set(upload_id, { file, state, parts: Array.from({ length: chunks }) });
      return state;
    },
    async state(place) {
      const { state, parts } = find(place);
      return { ...state, received: parts.flatMap((part, index) => (part === undefined ? [] : [index])) };
    },
    async put({ index, sha256, ...place }, data) {
      const { state, parts } = find(place);
      const part = await bytesOf(data);
      if (sha256 !== undefined && createHash('sha256').update(part).digest('hex') !== sha256)
        throw new ServiceError('unprocessable', 'The chunk is not what its digest says.');
      parts[index] = part;
      return { received_count: parts.filter((each) => each !== undefined).length, chunks: state.chunks };
    },
    async finish(place) {
      const { file, parts } = find(place);
      const whole = parts.filter((part) => part !== undefined);
      if (whole.length < parts.length) throw conflict('Chunks are missing.');
      return keep({ ...file, data: Buffer.alloc(0) }, Buffer.concat(whole));
    },
    discard: async (place) => void (find(place), uploads.delete(place.upload_id)),
  };
}

async function bytesOf(data: FileToSave['data']): Promise<Buffer> {
  if (data instanceof Uint8Array) return Buffer.from(data);
  const parts: Uint8Array[] = [];
  for await (const part of data) parts.push(part);
  return Buffer.concat(parts);
}

const toUploaded = (
  { name, mime = 'application/octet-stream' }: Pick<FileToSave, 'name' | 'mime'>,
  content: Buffer,
  index: number,
): UploadedFile => ({
  id: `upl_${index}`,
  path: `/uploads/${index}-${name}`,
  name,
  mime,
  kind: 'other',
  bytes: content.length,
  sha256: '0'.repeat(64),
});
