import { constants } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { writeAll } from '../file/store-stream.ts';
import { refused, usualLimits } from './archive-rules.ts';
import { type PartSink, readArchive } from './read-archive.ts';
import type { ReadArchive } from './check-contents.ts';

/** Parts up to this size wait in memory until all of the archive was read. */
const smallBytes = 1024;
/** The overhead of each of them besides its bytes, and the limit of all together. */
const besidesBytes = 128;
const usualWaitingBytes = 32 * 1024 * 1024;

/**
 * Unpacks an archive into an empty folder. Creating a file takes a hundred times as long as reading its entry, so small
 * files are created last: an archive with a million of them is refused before the first one is created.
 * @throws ServiceError `unprocessable` with what is wrong with it.
 */
export async function unpackArchive(
  body: Readable,
  folder: string,
  maxBytes: number,
  maxWaitingBytes = usualWaitingBytes,
): Promise<ReadArchive> {
  const made = new Set<string>();
  const waiting: { name: string; bytes: Buffer }[] = [];
  let room = maxWaitingBytes;
  const sinkOf = async (name: string): Promise<PartSink> => {
    const file = path.join(folder, name);
    const parent = path.dirname(file);
    if (!made.has(parent)) await apart(mkdir(parent, { recursive: true, mode: 0o700 }));
    made.add(parent);
    return fileSink(file);
  };
  const sinkFor = async (name: string, size: number): Promise<PartSink> => {
    if (size > smallBytes || size + besidesBytes > room) return sinkOf(name);
    room -= size + besidesBytes;
    return waitingSink((bytes) => waiting.push({ name, bytes }));
  };
  const archive = await readArchive(body, { ...usualLimits, maxBytes }, sinkFor);
  for (const { name, bytes } of waiting) await writeWhole(await sinkOf(name), bytes);
  return archive;
}

/** Copies the bytes: a part is a view of a much larger buffer, which would be kept alive. */
function waitingSink(keep: (bytes: Buffer) => void): PartSink {
  const parts: Buffer[] = [];
  return {
    write: (bytes) => Promise.resolve(void parts.push(bytes)),
    end: () => Promise.resolve(keep(Buffer.concat(parts))),
  };
}

/** Writes a new file of the backup, with the folders above it. */
export async function writePart(file: string, bytes: Buffer): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  await writeWhole(await fileSink(file), bytes);
}

async function writeWhole(sink: PartSink, bytes: Buffer): Promise<void> {
  try {
    await sink.write(bytes);
  } finally {
    await sink.end();
  }
}

/** Creates a new file: nothing that exists is overwritten, and links are not followed. */
async function fileSink(file: string): Promise<PartSink> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const handle = await apart(open(file, flags, 0o600));
  let at = 0;
  return {
    async write(bytes) {
      await writeAll(handle, [bytes], at);
      at += bytes.length;
    },
    async end() {
      try {
        await handle.datasync();
      } finally {
        await handle.close();
      }
    },
  };
}

/** Refuses a file whose path conflicts with another file of the backup. */
async function apart<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EEXIST' && code !== 'ENOTDIR' && code !== 'EISDIR') throw error;
    throw refused('The backup contains two files with conflicting paths.', error);
  }
}
