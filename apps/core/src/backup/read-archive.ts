import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { ParsedTarEntry } from 'modern-tar';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import {
  type ArchiveLimits,
  contentsName,
  type Counter,
  countPacked,
  foldedName,
  isArchiveName,
  limitUnpacked,
  mostEntries,
  refused,
  secretsName,
  toRefusal,
} from './archive-rules.ts';
import { checkContents, type Parts, type ReadArchive } from './check-contents.ts';

/** Receives a part while it is read; `end` is awaited before the next part begins. */
export type PartSink = { write(bytes: Buffer): Promise<void>; end(): Promise<void> };

/** Limit of the parts that are held in memory: the contents and the sealed secrets. */
const maxHeldBytes = 256 * 1024 * 1024;

/**
 * Reads an archive to its end and returns its contents, after checking them: each part has an allowed name, occurs once,
 * and has the listed bytes. Nothing of the archive may be used before this resolves.
 * @throws ServiceError `unprocessable` with what is wrong with it.
 */
export async function readArchive(
  body: Readable,
  limits: ArchiveLimits,
  sinkFor: (name: string, size: number) => Promise<PartSink>,
): Promise<ReadArchive> {
  const { createTarDecoder } = await import('modern-tar'); // rarely needed
  const decoder = createTarDecoder({ strict: true });
  const writer = decoder.writable.getWriter();
  const counter = { packed: 0, unpacked: 0 };
  const flow = pipeline(
    body,
    countPacked(counter),
    createGunzip(),
    limitUnpacked(counter, limits),
    (tar: AsyncIterable<Buffer>) => writeEach(tar, writer),
  ).catch((error: unknown) => Promise.reject(toRefusal(error)));
  const read = readParts(withRefusals(decoder.readable), { limits, counter }, sinkFor);
  // A fault of one side ends the other; the first fault is reported.
  read.catch((error: unknown) => {
    body.destroy();
    abort(writer, error);
  });
  const [parts] = await firstFault(read, flow);
  return checkContents(parts);
}

type Writer = WritableStreamDefaultWriter<Uint8Array>;

/** Writes with backpressure. */
async function writeEach(tar: AsyncIterable<Buffer>, writer: Writer): Promise<void> {
  try {
    for await (const bytes of tar) await writer.write(bytes);
    await writer.close();
  } catch (error) {
    abort(writer, error);
    throw error;
  }
}

/** Not awaited: the fault is reported where it was found. */
const abort = (writer: Writer, reason: unknown): void => void writer.abort(reason).catch(() => undefined);

async function readParts(
  entries: AsyncIterable<ParsedTarEntry>,
  { limits, counter }: { limits: ArchiveLimits; counter: Readonly<Counter> },
  sinkFor: (name: string, size: number) => Promise<PartSink>,
): Promise<Parts> {
  const parts: Parts = { found: new Map(), held: new Map() };
  const folded = new Set<string>();
  for await (const { header, body } of entries) {
    const { name, type, size } = header;
    const shown = JSON.stringify(name.slice(0, 200));
    if (type !== 'file') throw refused(`The backup contains ${shown}, a ${type}. Only regular files are allowed.`);
    if (!isArchiveName(name)) throw refused(`The backup contains ${shown}, which does not belong in a backup.`);
    const key = foldedName(name);
    if (folded.has(key)) throw refused(`The backup contains ${shown} twice.`);
    folded.add(key);
    if (folded.size > mostEntries(limits, counter))
      throw refused(`The backup contains more than ${limits.maxEntries} files, which are too many for its size.`);
    const isHeld = name === contentsName || name === secretsName;
    if (isHeld && size > maxHeldBytes) throw refused(`The backup contains ${shown} with ${size} bytes, which is too large.`);
    const sink = isHeld ? holder((bytes) => parts.held.set(name, bytes)) : await sinkFor(name, size);
    parts.found.set(name, await readPart(body, size, sink));
  }
  return parts;
}

async function readPart(
  body: AsyncIterable<Uint8Array>,
  size: number,
  sink: PartSink,
): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    for await (const part of withRefusals(body)) {
      hash.update(part);
      bytes += part.length;
      await sink.write(Buffer.from(part.buffer, part.byteOffset, part.length));
    }
  } finally {
    await sink.end();
  }
  if (bytes !== size) throw refused('The backup is incomplete: it ends too early.');
  return { bytes, sha256: hash.digest('hex') };
}

function holder(keep: (bytes: Buffer) => void): PartSink {
  const parts: Buffer[] = [];
  return {
    write: async (bytes) => void parts.push(bytes),
    end: async () => keep(Buffer.concat(parts)),
  };
}

/** Passes on the unpacker's output; its faults become refusals. */
async function* withRefusals<T>(source: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* source;
  } catch (error) {
    throw toRefusal(error);
  }
}

/** Waits for both; of two faults, the one that caused the other is thrown. */
async function firstFault<A, B>(first: Promise<A>, second: Promise<B>): Promise<[A, B]> {
  const [a, b] = await Promise.allSettled([first, second]);
  if (a.status === 'fulfilled' && b.status === 'fulfilled') return [a.value, b.value];
  const reasons = [a, b].flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []));
  throw (
    reasons.find((reason) => reason instanceof ServiceError) ?? reasons.find((reason) => !isConsequence(reason)) ?? reasons[0]
  );
}

const isConsequence = (reason: unknown) => /PREMATURE_CLOSE|STREAM_DESTROYED/.test((reason as NodeJS.ErrnoException)?.code ?? '');
