import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { badRequest, ServiceError } from '@svc/service-kit/service-error.ts';
import { counted } from '@svc/service-kit/words.ts';
import { storeStream } from '../file/store-stream.ts';
import type { Tap } from './prefix-hash.ts';

/** What a chunk has to match: its planned length and, where its sender named one, its digest (lower-case hex). */
export type ExpectedChunk = { index: number; length: number; maxChunk: number; sha256: string | null };

/**
 * Writes the body of one chunk to its place.
 * @throws ServiceError `bad_request` or `too_large` for a wrong length, `unprocessable` for a wrong digest.
 */
export async function readChunk(
  body: Readable,
  expected: ExpectedChunk,
  place: { handle: FileHandle; position: number },
  tap: Tap | null = null,
): Promise<void> {
  const { index, length, maxChunk, sha256 } = expected;
  const hash = sha256 === null ? null : createHash('sha256');
  const tooMuch = () =>
    length >= maxChunk ? chunkTooLarge(maxChunk) : badRequest(`Chunk ${index} is longer than its ${length} bytes.`);
  const came = await storeStream(body, {
    ...place,
    maxBytes: length,
    tooMuch,
    onBytes(bytes) {
      hash?.update(bytes);
      tap?.update(bytes);
    },
  });
  if (came !== length) throw otherLength(came, expected);
  if (hash === null || hash.digest('hex') === sha256) return;
  throw new ServiceError('unprocessable', `Chunk ${index} does not match its X-Chunk-Sha256. Send it again.`);
}

/** Checks the announced length before a byte is read. @throws ServiceError `bad_request`, `too_large`. */
export function checkAnnounced(announced: number, expected: Omit<ExpectedChunk, 'sha256'>): void {
  if (announced > expected.maxChunk) throw chunkTooLarge(expected.maxChunk);
  if (announced !== expected.length) throw otherLength(announced, expected);
}

const otherLength = (came: number, { index, length }: Omit<ExpectedChunk, 'sha256'>) =>
  badRequest(`Chunk ${index} has ${counted(came, 'byte')}, not ${length}. Send the whole chunk.`);

const chunkTooLarge = (limit: number) =>
  new ServiceError('too_large', `A chunk has at most ${limit} bytes (SVC_UPLOAD_MAX_CHUNK).`, {
    details: { limit, variable: 'SVC_UPLOAD_MAX_CHUNK' },
  });
