import { createHash } from 'node:crypto';
import { constants, createWriteStream } from 'node:fs';
import { type FileHandle, readFile } from 'node:fs/promises';
import { Readable, pipeline as pipe } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { BackupContents } from '@svc/contract/backup.ts';
import { ifThere } from '@svc/service-kit/files.ts';
import { openToRead } from '../file/open-to-read.ts';
import { contentsName, secretsName } from './archive-rules.ts';
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

/** Levels of gzip. */
const [fastLevel, storedLevel] = [1, 0];
const readBytes = 1024 * 1024;
/** Files up to this size are read in one piece, so that a file that is rewritten meanwhile is packed consistently. */
const wholeBytes = 256 * 1024;

/** Packs everything into a new file, `backup.json` last, because it lists the sizes and digests of the others. */
export async function writeArchive(file: string, parts: ArchiveParts, { signal, onBytes }: Hooks): Promise<BackupContents> {
  const { createTarPacker } = await import('modern-tar'); // rarely needed
  const { readable, controller } = createTarPacker();
  /** Chunks that begin an uncompressed part. */
  const stored = new WeakSet<Uint8Array>();
  const target = createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true });
  const written = pipeline(compressed(readable, stored), target, { signal });
  const filled = fill();
  // A fault of one side ends the other.
  written.catch((error: unknown) => controller.error(error));
  filled.catch((error: unknown) => controller.error(error));
  await Promise.all([written, filled]);
  return filled;

  async function fill(): Promise<BackupContents> {
    const files: BackupContents['files'] = [];
    const mtime = new Date(parts.facts.created_at);
    const pack = (name: string, bytes: number) => controller.add({ name, size: bytes, mode: 0o600, mtime }).getWriter();
    const add = async (part: PackedFile, isStored: boolean) => {
      signal.throwIfAborted();
      const isWhole = part.bytes <= wholeBytes;
      const content = isWhole ? await readWhole(part.file) : null;
      if (isWhole && content === null) return;
      if (content !== null && part.isPlain?.(content) === false) return;
      if (isStored && content !== null) stored.add(content);
      if (content !== null) return addBytes(part.name, content);
      const onPart = (bytes: Buffer) => {
        if (isStored) stored.add(bytes);
        onBytes(bytes.length);
      };
      const handle = await openToRead(part.file);
      if (handle === null) return;
      const entry = pack(part.name, part.bytes);
      files.push({ path: part.name, bytes: part.bytes, sha256: await packFile(entry, { ...part, handle }, onPart) });
    };
    const addBytes = async (path: string, bytes: Buffer) => {
      await packBytes(pack(path, bytes.length), bytes);
      onBytes(bytes.length);
      files.push({ path, bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') });
    };
    for (const part of parts.small) await add(part, false);
    if (parts.secrets !== null) await addBytes(secretsName, parts.secrets);
    for (const part of parts.large) await add(part, true);
    const contents = { ...parts.facts, files };
    const text = Buffer.from(JSON.stringify(contents));
    await packBytes(pack(contentsName, text.length), text);
    controller.finalize();
    return contents;
  }
}

/**
 * Writes several gzip members, each with one level: unpackers read them as one stream. From the first chunk in `stored` on,
 * nothing is compressed, which is many times faster; and so none of our archives unpacks to a hundred times its size.
 */
async function* compressed(source: AsyncIterable<Uint8Array>, stored: WeakSet<Uint8Array>): AsyncGenerator<Buffer> {
  const chunks = source[Symbol.asyncIterator]();
  let next = await chunks.next();
  let isStored = false;
  while (next.done !== true) {
    isStored ||= stored.has(next.value);
    const isSame = (bytes: Uint8Array) => isStored || !stored.has(bytes);
    const member = async function* () {
      do {
        yield next.value;
        next = await chunks.next();
      } while (next.done !== true && isSame(next.value));
    };
    const gzip = createGzip({ level: isStored ? storedLevel : fastLevel, chunkSize: 256 * 1024 });
    pipe(Readable.from(member(), { objectMode: false }), gzip, () => undefined); // a fault is thrown by the loop below
    yield* gzip as AsyncIterable<Buffer>;
  }
}

/** Null for a file that has disappeared. */
const readWhole = (file: string): Promise<Buffer | null> =>
  ifThere(readFile(file, { flag: constants.O_RDONLY | constants.O_NOFOLLOW }), null);

type Entry = WritableStreamDefaultWriter<Uint8Array>;

/** Returns the sha256 of the packed bytes. */
async function packFile(
  entry: Entry,
  { file, bytes, handle }: PackedFile & { handle: FileHandle },
  onPart: (bytes: Buffer) => void,
): Promise<string> {
  const hash = createHash('sha256');
  try {
    for (let at = 0; at < bytes;) {
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(Math.min(readBytes, bytes - at)), 0, undefined, at);
      if (bytesRead === 0) throw new Error(`${file} became shorter while it was being packed`);
      const part = buffer.subarray(0, bytesRead);
      hash.update(part);
      onPart(part);
      await entry.write(part);
      at += bytesRead;
    }
    await entry.close();
    return hash.digest('hex');
  } finally {
    await handle.close();
  }
}

async function packBytes(entry: Entry, bytes: Buffer): Promise<void> {
  await entry.write(bytes);
  await entry.close();
}
