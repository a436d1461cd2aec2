import { createHash } from 'node:crypto';
import { constants, createWriteStream } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { Readable, pipeline as pipe } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Pack } from 'tar-stream';
import type { BackupContents } from '@svc/contract/backup.ts';
import { contentsName, secretsName } from './archive-names.ts';
import type { PackedFile } from './gather-files.ts';

export type ArchiveParts = {
  /** Databases and configuration, worth compressing. */
  small: readonly PackedFile[];
  /** Uploads and silos: mostly compressed already, and stored as they are. */
  large: readonly PackedFile[];
  secrets: Buffer | null;
  facts: Omit<BackupContents, 'files'>;
};

type Hooks = { signal: AbortSignal; onBytes: (bytes: number) => void };

/** Of gzip. */
const [fastLevel, storedLevel] = [1, 0];
const readBytes = 1024 * 1024;
/** Read at once, so that one that is written anew meanwhile is taken as it is then. */
const wholeBytes = 256 * 1024;

/** Packs everything into a new file, `backup.json` last, because that says what the others have become. */
export async function writeArchive(file: string, parts: ArchiveParts, { signal, onBytes }: Hooks): Promise<BackupContents> {
  const { pack: createPack } = await import('tar-stream'); // seldom wanted
  const pack = createPack();
  let level = fastLevel;
  const target = createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true });
  // The cast: it is a stream of another library, which Node takes for its own.
  const source = pack as unknown as Readable;
  const written = pipeline(source, (tar: AsyncIterable<Buffer>) => compressed(tar, () => level), target, { signal });
  const filled = fill();
  filled.catch((error: Error) => pack.destroy(error));
  await Promise.all([written, filled]);
  return filled;

  async function fill(): Promise<BackupContents> {
    const files: BackupContents['files'] = [];
    const mtime = new Date(parts.facts.created_at);
    const add = async (part: PackedFile) => {
      signal.throwIfAborted();
      const isWhole = part.grows !== true && part.bytes <= wholeBytes;
      const content = isWhole ? await readWhole(part.file) : null;
      if (isWhole && content === null) return;
      if (content === null)
        files.push({ path: part.name, bytes: part.bytes, sha256: await packFile(pack, part, mtime, onBytes) });
      else await addBytes(part.name, content);
    };
    const addBytes = async (path: string, bytes: Buffer) => {
      await packBytes(pack, path, bytes, mtime);
      onBytes(bytes.length);
      files.push({ path, bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') });
    };
    for (const part of parts.small) await add(part);
    if (parts.secrets !== null) await addBytes(secretsName, parts.secrets);
    // Not smaller, but many times faster; and what unpacks to a hundred times its size is never one of ours.
    level = storedLevel;
    for (const part of parts.large) await add(part);
    const contents = { ...parts.facts, files };
    await packBytes(pack, contentsName, Buffer.from(JSON.stringify(contents)), mtime);
    pack.finalize();
    return contents;
  }
}

/** One gzip after the other, each of one level: every unpacker takes them for one. */
async function* compressed(source: AsyncIterable<Buffer>, levelNow: () => number): AsyncGenerator<Buffer> {
  const chunks = source[Symbol.asyncIterator]();
  let next = await chunks.next();
  while (next.done !== true) {
    const level = levelNow();
    const member = async function* () {
      for (; next.done !== true && levelNow() === level; next = await chunks.next()) yield next.value;
    };
    const gzip = createGzip({ level, chunkSize: 256 * 1024 });
    pipe(Readable.from(member(), { objectMode: false }), gzip, () => undefined); // a fault comes out of the reading below
    yield* gzip as AsyncIterable<Buffer>;
  }
}

/** Null for one that is gone by now. */
async function readWhole(file: string): Promise<Buffer | null> {
  try {
    return await readFile(file, { flag: constants.O_RDONLY | constants.O_NOFOLLOW });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Gives the sha256 of what was packed. */
async function packFile(
  pack: Pack,
  { name, file, bytes }: PackedFile,
  mtime: Date,
  onBytes: (bytes: number) => void,
): Promise<string> {
  const hash = createHash('sha256');
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const done = Promise.withResolvers<null>();
    done.promise.catch(() => undefined); // awaited below, or the pack itself has failed
    const entry = pack.entry({ name, size: bytes, mode: 0o600, mtime }, (error) =>
      error ? done.reject(error) : done.resolve(null),
    );
    entry.on('error', done.reject);
    for (let at = 0; at < bytes;) {
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(Math.min(readBytes, bytes - at)), 0, undefined, at);
      if (bytesRead === 0) throw new Error(`${file} became shorter while it was packed`);
      const part = buffer.subarray(0, bytesRead);
      hash.update(part);
      onBytes(bytesRead);
      if (!entry.write(part)) await Promise.race([untilDrained(entry), done.promise]);
      at += bytesRead;
    }
    entry.end(null);
    await done.promise;
    return hash.digest('hex');
  } finally {
    await handle.close();
  }
}

/** Also when it will never drain, because the whole was given up. */
const untilDrained = (stream: Pick<NodeJS.WritableStream, 'once' | 'off'>) =>
  new Promise<void>((resolve) => {
    const end = () => {
      stream.off('drain', end).off('close', end);
      resolve();
    };
    stream.once('drain', end).once('close', end);
  });

const packBytes = (pack: Pack, name: string, bytes: Buffer, mtime: Date) =>
  new Promise<void>((resolve, reject) => {
    const header = { name, size: bytes.length, mode: 0o600, mtime };
    pack.entry(header, bytes, (error) => (error ? reject(error) : resolve())).on('error', reject);
  });
