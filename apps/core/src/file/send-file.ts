import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { create as contentDisposition } from 'content-disposition';
import type { FastifyReply } from 'fastify';
import type { ManifestEntry } from '@svc/contract/upload.ts';
import type { IncomingMessage } from '@svc/service-kit/builtin.ts';
import { ServiceError, notFound } from '@svc/service-kit/service-error.ts';
import { counted } from '@svc/service-kit/words.ts';
import { checkConditions, rangeOf, validatorsOf } from './conditions.ts';

/** The path, name and content id of a file to send. */
export type SentFile = Pick<ManifestEntry, 'id' | 'path' | 'name' | 'mime'>;

const readBytes = 256 * 1024;

/**
 * Answers with a file, whole or the requested range. Always as a download that runs nothing: an HTML or SVG file that was sent here must
 * not act as a page of this service.
 * @throws ServiceError `not_found` for a file that is gone, and for a link in its place.
 */
export async function sendFile(request: IncomingMessage, reply: FastifyReply, entry: SentFile): Promise<FastifyReply> {
  const handle = await openFile(entry);
  let isSent = false;
  try {
    const body = await answer(handle, request, reply, entry);
    // An empty stream for HEAD: without any body the framework would set the length to 0.
    if (request.method === 'HEAD') return await reply.send(Readable.from([]));
    // An empty file has no range to read.
    if (body === null || body.end < body.start) return await reply.send();
    isSent = true;
    return await reply.send(handle.createReadStream({ ...body, highWaterMark: readBytes }));
  } finally {
    if (!isSent) await handle.close();
  }
}

async function openFile({ id, path }: SentFile): Promise<FileHandle> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ELOOP' || code === 'ENOTDIR') throw notFound('file', id);
    throw error;
  }
}

/** Sets status and headers, and returns the range to send; null when no bytes are sent. */
async function answer(
  handle: FileHandle,
  { headers, method }: IncomingMessage,
  reply: FastifyReply,
  entry: SentFile,
): Promise<{ start: number; end: number } | null> {
  const found = await handle.stat({ bigint: true });
  if (!found.isFile()) throw notFound('file', entry.id);
  const validators = validatorsOf(found);
  const size = Number(found.size);
  setHeaders(reply, entry).headers({ etag: validators.etag, 'last-modified': validators.lastModified });
  const verdict = checkConditions(headers, validators);
  if (verdict === 'failed') throw new ServiceError('bad_request', 'The file has been replaced in the meantime.', { status: 412 });
  if (verdict === 'not_modified') return (reply.code(304), null);
  const range = method === 'GET' ? rangeOf(headers, size, validators) : null;
  if (range === 'none') {
    reply.header('content-range', `bytes */${size}`);
    throw new ServiceError('bad_request', `The file has ${counted(size, 'byte')}; there is no such range.`, { status: 416 });
  }
  const { start, end } = range ?? { start: 0, end: size - 1 };
  if (range !== null) reply.code(206).header('content-range', `bytes ${start}-${end}/${size}`);
  reply.header('content-length', end - start + 1);
  return { start, end };
}

const setHeaders = (reply: FastifyReply, { mime, name }: SentFile) =>
  reply
    .header('accept-ranges', 'bytes')
    .header('content-type', mime)
    .header('content-disposition', contentDisposition(name))
    .header('x-content-type-options', 'nosniff')
    .header('content-security-policy', "default-src 'none'; sandbox")
    .header('cache-control', 'private, no-cache');
