import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';

export type Lines = {
  lines: string[];
  /** The offset in bytes at which to continue. */
  next: number;
  /** True in the middle of a line that is too long to be read and that continues at `next`. */
  isSkipping: boolean;
  /** True when no complete line follows. */
  isEnd: boolean;
};

/** How much is read at a time, which is also the longest line that is read. Images of tools make longer ones. */
const chunkBytes = 256 * 1024;
const maxLineBytes = 4 * 1024 * 1024;
const markBytes = 256;
const newline = 0x0a;

/** Opens a file of this user; null for anything else: links, pipes, files of others, missing files. */
export async function openOwnFile(file: string): Promise<FileHandle | null> {
  let handle: FileHandle | null = null;
  try {
    handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stat = await handle.stat();
    if (stat.isFile() && stat.uid === process.getuid?.()) return handle;
  } catch {
    // missing, a link, or unreadable
  }
  await handle?.close();
  return null;
}

/** Reads a file line by line, into a single buffer. */
export type LineReader = {
  /** The complete lines after an offset, as many as fit in one read. A line that is still being written is left for later. */
  lines(from: number, isSkipping: boolean): Promise<Lines>;
  /** A digest of the bytes just before an offset, which changes when the file is replaced or rewritten. */
  mark(at: number): Promise<string>;
};

export function createLineReader(handle: FileHandle): LineReader {
  let buffer = Buffer.allocUnsafe(chunkBytes);
  const read = async (from: number, length: number): Promise<Buffer> => {
    if (buffer.length < length) buffer = Buffer.allocUnsafe(length);
    return buffer.subarray(0, await fill(handle, buffer, from, length));
  };
  /** Continues a line that is too long. */
  const skip = async (from: number): Promise<Lines> => {
    const bytes = await read(from, chunkBytes);
    const end = bytes.indexOf(newline);
    if (end !== -1) return { lines: [], next: from + end + 1, isSkipping: false, isEnd: false };
    return { lines: [], next: from + bytes.length, isSkipping: true, isEnd: bytes.length < chunkBytes };
  };

  return {
    async lines(from, isSkipping) {
      if (isSkipping) return skip(from);
      let bytes = await read(from, chunkBytes);
      const isFull = bytes.length === chunkBytes;
      if (isFull && !bytes.includes(newline)) bytes = await read(from, maxLineBytes);
      const end = bytes.lastIndexOf(newline) + 1;
      if (end === 0 && bytes.length === maxLineBytes)
        return { lines: [], next: from + bytes.length, isSkipping: true, isEnd: false };
      return { lines: splitLines(bytes.subarray(0, end)), next: from + end, isSkipping: false, isEnd: !isFull || end === 0 };
    },
    async mark(at) {
      const from = Math.max(0, at - markBytes);
      return createHash('sha256')
        .update(await read(from, at - from))
        .digest('base64url');
    },
  };
}

/** The complete lines at the beginning and the end of a file, without those in between; `next` is where the last one ends. */
export async function readEnds(handle: FileHandle, size: number): Promise<{ lines: string[]; next: number }> {
  const head = await readAt(handle, 0, endBytes);
  const first = wholeLines(head, 0);
  if (size <= endBytes) return { lines: first, next: head.lastIndexOf(newline) + 1 };
  const from = Math.max(endBytes, size - endBytes);
  const tail = await readAt(handle, from, endBytes);
  return { lines: [...first, ...wholeLines(tail, tail.indexOf(newline) + 1)], next: from + tail.lastIndexOf(newline) + 1 };
}

/** How much of each end is read. */
export const endBytes = 64 * 1024;

const wholeLines = (bytes: Buffer, start: number): string[] =>
  splitLines(bytes.subarray(start, Math.max(start, bytes.lastIndexOf(newline))));
const splitLines = (bytes: Buffer): string[] =>
  bytes
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '');

async function readAt(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  return buffer.subarray(0, await fill(handle, buffer, position, length));
}

async function fill(handle: FileHandle, buffer: Buffer, position: number, length: number): Promise<number> {
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await handle.read(buffer, filled, length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return filled;
}
