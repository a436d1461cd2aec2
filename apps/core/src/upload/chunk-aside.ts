import { constants } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { writeAll } from '../file/store-stream.ts';

/** How much is compared or copied at a time. */
const pieceBytes = 1024 * 1024;

/** The place of a chunk in the whole file. */
export type Place = { open: () => Promise<FileHandle>; position: number; length: number };

/** A chunk that is sent again, kept in a separate file until it is verified. */
export type ChunkAside = {
  handle: FileHandle;
  /** Whether it equals the bytes at its place. */
  isAt(place: Place): Promise<boolean>;
  copyTo(place: Place): Promise<void>;
  remove(): Promise<void>;
};

/** Removes what an earlier process left there. */
export async function setAside(file: string): Promise<ChunkAside> {
  await rm(file, { force: true });
  const handle = await open(file, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
  return {
    handle,
    async isAt({ open: openWhole, position, length }) {
      const whole = await openWhole();
      try {
        for await (const { bytes, at } of pieces(handle, length)) {
          const there = Buffer.allocUnsafe(bytes.length);
          await readAll(whole, there, position + at);
          if (!there.equals(bytes)) return false;
        }
        return true;
      } finally {
        await whole.close();
      }
    },
    async copyTo({ open: openWhole, position, length }) {
      const whole = await openWhole();
      try {
        for await (const { bytes, at } of pieces(handle, length)) await writeAll(whole, [bytes], position + at);
      } finally {
        await whole.close();
      }
    },
    async remove() {
      await handle.close();
      await rm(file, { force: true });
    },
  };
}

async function* pieces(handle: FileHandle, length: number): AsyncGenerator<{ bytes: Buffer; at: number }> {
  for (let at = 0; at < length; at += pieceBytes) {
    const bytes = Buffer.allocUnsafe(Math.min(pieceBytes, length - at));
    await readAll(handle, bytes, at);
    yield { bytes, at };
  }
}

/** Fills `bytes`; a single read may return fewer. */
async function readAll(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const { bytesRead } = await handle.read(bytes, done, bytes.length - done, position + done);
    if (bytesRead === 0) throw new Error('a staged file is shorter than its chunks');
    done += bytesRead;
  }
}
