import path from 'node:path';
import { create as contentDisposition } from 'content-disposition';
import type { FastifyReply } from 'fastify';
import type { ManifestEntry } from '@svc/contract/upload.ts';
import type { IncomingMessage } from '@svc/service-kit/builtin.ts';
import { ServiceError, notFound } from '@svc/service-kit/service-error.ts';

/** Where it lies, and what it is called and known by. */
export type SentFile = Pick<ManifestEntry, 'id' | 'path' | 'name' | 'mime' | 'bytes'>;

/**
 * Answers with a file, whole or the ranges that were asked for. Always as a download that runs nothing: an HTML or SVG
 * file of somebody must not act as a page of this service.
 */
export async function sendFile(request: IncomingMessage, reply: FastifyReply, entry: SentFile): Promise<FastifyReply> {
  const { default: send } = await import('@fastify/send');
  const root = path.dirname(entry.path);
  const file = encodeURIComponent(path.basename(entry.path));
  const found = await send(request, file, { root, dotfiles: 'allow', index: false, contentType: false, cacheControl: false });
  if (found.statusCode === 416) {
    throw new ServiceError('bad_request', `The file has ${entry.bytes} bytes; there is no such range.`, { status: 416 });
  }
  if (found.type !== 'file') throw notFound('file', entry.id);
  return reply
    .code(found.statusCode)
    .headers(found.headers)
    .header('content-type', entry.mime)
    .header('content-disposition', contentDisposition(entry.name))
    .header('x-content-type-options', 'nosniff')
    .header('content-security-policy', "default-src 'none'; sandbox")
    .header('cache-control', 'private, no-cache')
    .send(found.stream);
}
