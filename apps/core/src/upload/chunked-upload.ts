import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { UploadState } from '@svc/contract/upload.ts';
import { ServiceError, badRequest } from '@svc/service-kit/service-error.ts';
import { counted } from '@svc/service-kit/words.ts';
import { PrefixHash, type Tap } from './prefix-hash.ts';
import type { Staging, UploadPlan } from './staging.ts';
import { drain, storeStream } from '../file/store-stream.ts';

/** How often received bytes are synced to the disk in the background, so that the end has little to wait for. */
const syncEveryMs = 5000;

export type ChunkBody = {
  body: Readable;
  /** As the header says, or null. */
  length: number | null;
  /** Lower-case hex, or null. */
  sha256: string | null;
};

/** One upload on its way. Chunks come in any order and at once; those of one index come one after the other. */
export class ChunkedUpload {
  readonly id: string;
  readonly plan: UploadPlan;
  readonly #staging: Staging;
  readonly #map: Uint8Array;
  readonly #maxChunk: number;
  readonly #hash: PrefixHash;
  readonly #lines = new Map<number, Promise<void>>();
  #received: number;
  #syncsSoon = false;
  /** Why the disk has not kept what had landed; another object each time. */
  #loss: { cause: unknown } | null = null;
  /** Bytes that landed since the disk was last asked to take what there was. */
  unsynced = 0;
  writing = 0;

  constructor(id: string, { plan, map }: { plan: UploadPlan; map: Uint8Array }, staging: Staging, maxChunk: number) {
    this.id = id;
    this.plan = plan;
    this.#staging = staging;
    this.#map = map;
    this.#maxChunk = maxChunk;
    this.#received = map.reduce((sum, byte) => sum + byte, 0);
    this.#hash = new PrefixHash({
      file: staging.dataOf(id),
      chunks: plan.chunks,
      offsetOf: (index) => index * plan.chunk_size,
      lengthOf: (index) => this.#lengthOf(index),
      isReceived: (index) => this.#map[index] === 1,
    });
  }

  get receivedCount(): number {
    return this.#received;
  }

  state(): UploadState {
    const { size, chunk_size, chunks } = this.plan;
    return { upload_id: this.id, size, chunk_size, chunks, received: this.#indexes(1, chunks) };
  }

  /** The first of the chunks that are still to come. */
  missing = (limit: number): number[] => this.#indexes(0, limit);

  /** The digest of the whole, when all has landed. */
  digest = (): Promise<string> => this.#hash.digest();
  /** The whole is not what it was said to be: the next look reads all of it again. */
  invalidate = (): void => this.#hash.reset();

  /**
   * Takes one chunk. It counts when it is whole and its digest is right; until then, and for one that came before, the
   * file keeps what it had.
   * @throws ServiceError `bad_request`, `too_large`, `unprocessable`, `insufficient_storage`.
   */
  async receive(index: number, chunk: ChunkBody): Promise<void> {
    this.#checkLength(index, chunk.length);
    const before = this.#lines.get(index) ?? Promise.resolve();
    const mine = before.catch(() => undefined).then(() => this.#take(index, chunk));
    this.#lines.set(index, mine);
    this.writing++;
    try {
      await mine;
    } finally {
      this.writing--;
      if (this.#lines.get(index) === mine) this.#lines.delete(index);
    }
  }

  async #take(index: number, { body, sha256 }: ChunkBody): Promise<void> {
    const isKnown = this.#map[index] === 1;
    const tap = isKnown ? null : this.#hash.tap(index);
    let hasLanded = false;
    try {
      await (isKnown ? this.#compare(index, body, sha256) : this.#store(index, body, sha256, tap));
      hasLanded = true;
    } finally {
      tap?.end(hasLanded);
      this.#hash.advance();
    }
  }

  /** It landed before. The one that came first stays, and this one only has to be right. */
  async #compare(index: number, body: Readable, sha256: string | null): Promise<void> {
    const digest = createDigest(sha256);
    this.#checkWhole(index, await drain(body, this.#lengthOf(index), () => this.#tooLong(index), digest.update));
    digest.check(index);
  }

  async #store(index: number, body: Readable, sha256: string | null, tap: Tap | null): Promise<void> {
    const digest = createDigest(sha256);
    const loss = this.#loss;
    const handle = await this.#staging.open(this.id);
    try {
      const length = await storeStream(body, {
        handle,
        position: index * this.plan.chunk_size,
        maxBytes: this.#lengthOf(index),
        tooMuch: () => this.#tooLong(index),
        onBytes(bytes) {
          digest.update(bytes);
          tap?.update(bytes);
        },
      });
      this.#checkWhole(index, length);
      digest.check(index);
    } finally {
      await handle.close();
    }
    await this.#staging.mark(this.id, index);
    if (this.#loss !== null && this.#loss !== loss) {
      await this.#staging.keepMap(this.id, this.#map);
      throw this.#loss.cause;
    }
    this.#map[index] = 1;
    this.#received++;
    this.unsynced += this.#lengthOf(index);
    this.#syncSoon();
  }

  /** Nobody waits for it; that something was lost shows at the end, where chunks are missing then. */
  #syncSoon(): void {
    if (this.#syncsSoon) return;
    this.#syncsSoon = true;
    const again = () => void (this.#syncsSoon = false);
    setTimeout(() => void this.sync().then(again, again), syncEveryMs).unref();
  }

  /**
   * Has the disk take what has landed. What it refuses it may never take: the system reports it once, and gives the bytes
   * from its memory as if they were there. So all chunks have to come again then.
   */
  async sync(): Promise<void> {
    const handle = await this.#staging.open(this.id);
    const before = this.unsynced;
    try {
      await handle.sync().catch((error: unknown) => this.#lose(error));
      this.unsynced -= before;
    } finally {
      await handle.close();
    }
  }

  /** The same at the end, when all had landed. @throws also when the disk refused some of it since then, in another's hands. */
  async syncAll(): Promise<void> {
    await this.sync();
    if (this.#received < this.plan.chunks && this.#loss !== null) throw this.#loss.cause;
  }

  /** @throws the fault of the disk, whatever else it refuses. */
  async #lose(cause: unknown): Promise<never> {
    this.#loss = { cause };
    this.#map.fill(0);
    this.#received = 0;
    this.unsynced = 0;
    this.#hash.reset();
    await this.#staging.keepMap(this.id, this.#map).catch(() => undefined);
    throw cause;
  }

  #indexes(value: 0 | 1, limit: number): number[] {
    const found: number[] = [];
    for (let index = 0; index < this.#map.length && found.length < limit; index++)
      if (this.#map[index] === value) found.push(index);
    return found;
  }

  #lengthOf(index: number): number {
    return Math.min(this.plan.chunk_size, this.plan.size - index * this.plan.chunk_size);
  }

  /** Before a byte is read. */
  #checkLength(index: number, length: number | null): void {
    if (!Number.isSafeInteger(index) || index < 0 || index >= this.plan.chunks) {
      throw badRequest(`There is no chunk ${index}: this upload has ${this.plan.chunks}, counted from 0.`);
    }
    if (length === null) return;
    if (length > this.#maxChunk) throw chunkTooLarge(this.#maxChunk);
    if (length !== this.#lengthOf(index)) this.#checkWhole(index, length);
  }

  #checkWhole(index: number, length: number): void {
    if (length === this.#lengthOf(index)) return;
    throw badRequest(`Chunk ${index} has ${counted(length, 'byte')}, not ${this.#lengthOf(index)}. Send the whole chunk.`);
  }

  #tooLong(index: number): ServiceError {
    return this.#lengthOf(index) >= this.#maxChunk
      ? chunkTooLarge(this.#maxChunk)
      : badRequest(`Chunk ${index} is longer than its ${this.#lengthOf(index)} bytes.`);
  }
}

const chunkTooLarge = (limit: number) =>
  new ServiceError('too_large', `A chunk has at most ${limit} bytes (SVC_UPLOAD_MAX_CHUNK).`, {
    details: { limit, variable: 'SVC_UPLOAD_MAX_CHUNK' },
  });

/** Nothing to do where the sender named no digest. */
function createDigest(expected: string | null) {
  const hash = expected === null ? null : createHash('sha256');
  return {
    update: (bytes: Buffer) => void hash?.update(bytes),
    check(index: number): void {
      if (hash === null || hash.digest('hex') === expected) return;
      throw new ServiceError('unprocessable', `Chunk ${index} does not match its X-Chunk-Sha256. Send it again.`);
    },
  };
}
