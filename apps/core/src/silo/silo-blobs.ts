import { constants } from 'node:fs';
import { open, readdir, rm, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { makePrivateDir, ifThere } from '@svc/service-kit/files.ts';
import { writeAll } from '../file/store-stream.ts';

/** The bytes of silos: a folder for each, with files under generated names. */
export type SiloBlobs = {
  /** The path of a blob. */
  fileOf(silo: string, blob: string): string;
  /** Writes a new blob; it is completely on the disk when this resolves. */
  write(silo: string, blob: string, content: AsyncIterable<Buffer>): Promise<void>;
  /** Never through a link. */
  open(silo: string, blob: string): Promise<FileHandle>;
  remove(silo: string, blob: string): Promise<void>;
  /** Keeps every blob until the returned function is called, because a backup takes time to read them. */
  hold(): () => void;
  /** Removes all blobs of a silo: while they are held, once that ends, and the empty folder at the next start. */
  removeAll(silo: string): Promise<void>;
  list(silo: string): Promise<string[]>;
  /** Every silo that has a folder here. */
  silos(): Promise<string[]>;
};

export function createSiloBlobs(folder: string): SiloBlobs {
  const fileOf = (silo: string, blob: string) => path.join(folder, silo, blob);
  let holders = 0;
  let due: string[] = [];

  return {
    fileOf,

    async write(silo: string, blob: string, content: AsyncIterable<Buffer>): Promise<void> {
      makePrivateDir(folder);
      makePrivateDir(path.join(folder, silo));
      const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
      const handle = await open(fileOf(silo, blob), flags, 0o600);
      try {
        await writeEach(handle, content);
        await handle.sync();
      } finally {
        await handle.close();
      }
    },

    open: (silo: string, blob: string): Promise<FileHandle> =>
      open(fileOf(silo, blob), constants.O_RDONLY | constants.O_NOFOLLOW),

    async remove(silo: string, blob: string): Promise<void> {
      if (holders > 0) due.push(fileOf(silo, blob));
      else await rm(fileOf(silo, blob), { force: true });
    },

    hold(): () => void {
      holders++;
      return () => {
        holders--;
        if (holders > 0) return;
        // The next start's sweep removes what cannot be removed now.
        for (const file of due) rm(file, { force: true }).catch(() => undefined);
        due = [];
      };
    },

    async removeAll(silo: string): Promise<void> {
      for (const blob of await namesIn(path.join(folder, silo))) await this.remove(silo, blob);
      if (holders === 0) await rm(path.join(folder, silo), { recursive: true, force: true });
    },

    list: (silo: string): Promise<string[]> => namesIn(path.join(folder, silo)),
    silos: (): Promise<string[]> => namesIn(folder),
  };
}

const namesIn = (folder: string): Promise<string[]> => ifThere(readdir(folder), []);

async function writeEach(handle: FileHandle, content: AsyncIterable<Buffer>): Promise<void> {
  let at = 0;
  for await (const bytes of content) {
    await writeAll(handle, [bytes], at);
    at += bytes.length;
  }
}
