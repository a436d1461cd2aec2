import { randomUUID } from 'node:crypto';
import { open, rm, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { makePrivateDir } from '../files.ts';

/**
 * A file without a name: it is unlinked once it is open, so the system frees it when it is closed, even if the process is
 * killed.
 */
export class SpillFile {
  readonly #file: FileHandle;
  #length = 0;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  static async open(dir: string): Promise<SpillFile> {
    const name = path.join(dir, `${randomUUID()}.part`);
    // The folder is missing only at the first use, and after another process has started.
    const file = await open(name, 'wx+', 0o600).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      makePrivateDir(dir);
      return open(name, 'wx+', 0o600);
    });
    await rm(name, { force: true });
    return new SpillFile(file);
  }

  async write(bytes: Buffer): Promise<void> {
    let done = 0;
    while (done < bytes.length) {
      const { bytesWritten } = await this.#file.write(bytes, done, bytes.length - done, this.#length);
      done += bytesWritten;
      this.#length += bytesWritten;
    }
  }

  async read(): Promise<Buffer> {
    const bytes = Buffer.allocUnsafeSlow(this.#length);
    for (let done = 0; done < bytes.length;) {
      const { bytesRead } = await this.#file.read(bytes, done, bytes.length - done, done);
      if (bytesRead === 0) throw new Error('a body on disk is shorter than it was received');
      done += bytesRead;
    }
    return bytes;
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}
