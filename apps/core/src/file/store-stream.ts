import type { FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { badRequest, ServiceError } from '@svc/service-kit/service-error.ts';
import { http } from '@svc/service-kit/builtin.ts';

/** Gathered for one write. */
const gatherBytes = 512 * 1024;
/** A sender that says nothing for this long is gone. */
const silenceMs = 60_000;

type Target = {
  handle: FileHandle;
  /** Where the first byte goes. */
  position: number;
  /** More bytes than this are refused with `tooMuch`, and nothing of them is kept. */
  maxBytes: number;
  tooMuch: () => Error;
  /** Sees every byte as it passes, and keeps none. */
  onBytes: (bytes: Buffer) => void;
};

/**
 * Writes a body to a file in constant memory, 1 MiB at most: while one part is written the next one is gathered.
 * Gives how many bytes it was. What was written before a fault stays in the file, and counts for nothing.
 * @throws ServiceError `bad_request` for a sender that left or fell silent.
 */
export async function storeStream(body: Readable, { handle, position, maxBytes, tooMuch, onBytes }: Target): Promise<number> {
  let parts: Buffer[] = [];
  let held = 0;
  let total = 0;
  let writing: Promise<void> = Promise.resolve();
  const isOwn = hasOwnBytes(body);
  const write = async () => {
    await writing;
    const at = position + total - held;
    const written = parts;
    writing = writeAll(handle, written, at).finally(() => isOwn && releaseBuffers(written));
    writing.catch(() => undefined); // reported where it is awaited
    parts = [];
    held = 0;
  };
  try {
    for await (const bytes of untilSilent(body)) {
      total += bytes.length;
      if (total > maxBytes) throw tooMuch();
      onBytes(bytes);
      parts.push(bytes);
      held += bytes.length;
      if (held >= gatherBytes) await write();
    }
    if (held > 0) await write();
  } finally {
    await writing; // nothing of this body lands after it was given up
  }
  return total;
}

/** The body's parts, or those of `parts` where they are read in another way; one that stops coming is ended, and one that broke off is the sender's fault. */
export async function* untilSilent(body: Readable, parts: AsyncIterable<Buffer> = body): AsyncGenerator<Buffer> {
  const silence = setTimeout(() => body.destroy(new Error('no data arrived for too long')), silenceMs);
  try {
    for await (const bytes of parts) {
      silence.refresh();
      yield bytes;
    }
  } catch (error) {
    throw badRequest('The connection ended before the whole body arrived. Send it again.', { cause: (error as Error).message });
  } finally {
    clearTimeout(silence);
  }
}

/** The result of work on the disk; its faults as `storageFault` puts them. */
export const stored = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw storageFault(error);
  });

/** A fault of the disk as an error for the sender; anything else as it is. */
export function storageFault(error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    const full = 'There is no room left on the disk for this file. Free some space and send it again.';
    return new ServiceError('insufficient_storage', full, { cause: error });
  }
  if (code !== 'EIO' && code !== 'EROFS') return error;
  return new ServiceError(
    'internal',
    `The disk cannot be written to (${code}), so this was not stored. Check the disk, then send it again.`,
    {
      cause: error,
    },
  );
}

/** True for a body from a connection: Node copied each of its parts for this body alone. */
export const hasOwnBytes = (body: Readable): boolean => body instanceof http.IncomingMessage;

/**
 * Gives the memory of parts back at once, which makes them empty. Left to the collector, which sees small objects only, some
 * 80 MB of a fast upload pile up. Parts that share their memory with something else are left alone.
 */
export function releaseBuffers(parts: readonly Buffer[]): void {
  for (const { buffer, byteOffset, length } of parts) {
    if (buffer instanceof ArrayBuffer && byteOffset === 0 && length === buffer.byteLength) buffer.transfer(0);
  }
}

/** Writes every byte of `parts` at a place of the file; the system may take fewer at once. */
export async function writeAll(handle: FileHandle, parts: readonly Buffer[], position: number): Promise<void> {
  let at = position;
  let left = parts.filter((part) => part.length > 0);
  while (left.length > 0) {
    const { bytesWritten } = await handle.writev(left, at);
    at += bytesWritten;
    left = without(left, bytesWritten);
  }
}

function without(parts: Buffer[], bytes: number): Buffer[] {
  let left = bytes;
  const first = parts.findIndex((part) => {
    if (left < part.length) return true;
    left -= part.length;
    return false;
  });
  if (first === -1) return [];
  const [part, ...rest] = parts.slice(first);
  return part === undefined ? [] : [part.subarray(left), ...rest];
}

/** Names the limit in bytes, and the setting that it comes from. */
export const tooLarge = (limit: number, variable: string) =>
  new ServiceError('too_large', `This is larger than ${limit} bytes, the limit set by ${variable}.`, {
    details: { limit, variable },
  });
