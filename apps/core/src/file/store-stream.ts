import type { FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { badRequest, ServiceError } from '@svc/service-kit/service-error.ts';
import { http } from '@svc/service-kit/builtin.ts';

/** How much is gathered for one write. */
const gatherBytes = 512 * 1024;
/** A sender that sends nothing for this long counts as gone. */
const silenceMs = 60_000;

type Target = {
  handle: FileHandle;
  /** The position of the first byte. */
  position: number;
  /** A larger body is rejected with `tooMuch`. */
  maxBytes: number;
  tooMuch: () => Error;
  /** Called with every part as it passes; must not keep it. */
  onBytes: (bytes: Buffer) => void;
};

/**
 * Writes a body to a file with at most 1 MiB of memory: while one part is written, the next is gathered. Returns the number of bytes. What
 * was written before an error stays in the file, but does not count.
 * @throws ServiceError `bad_request` for a sender that disconnected or fell silent.
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
    await writing; // no write of this body may happen after it was given up
  }
  return total;
}

/**
 * Yields the body's parts, or `parts` when they are read in another way. A silent body is ended, and a broken-off one is the sender's
 * error.
 */
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

/** Converts the errors of disk operations with `storageFault`. */
export const stored = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw storageFault(error);
  });

/** Converts a disk error to an error for the sender; other errors stay as they are. */
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

/** Whether a body comes from a connection: Node has copied each of its parts for this body alone. */
export const hasOwnBytes = (body: Readable): boolean => body instanceof http.IncomingMessage;

/**
 * Frees the memory of parts at once, which makes them empty. The garbage collector, which sees only the small objects, would let some 80 MB
 * of a fast upload pile up. Parts that share their memory are left alone.
 */
export function releaseBuffers(parts: readonly Buffer[]): void {
  for (const { buffer, byteOffset, length } of parts) {
    if (buffer instanceof ArrayBuffer && byteOffset === 0 && length === buffer.byteLength) buffer.transfer(0);
  }
}

/** Writes every byte of `parts` at a position of the file; a single write may take fewer. */
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

/** An error that names the limit in bytes and its setting. */
export const tooLarge = (limit: number, variable: string) =>
  new ServiceError('too_large', `This is larger than ${limit} bytes, the limit set by ${variable}.`, {
    details: { limit, variable },
  });
