import type { Readable } from 'node:stream';
import type { UploadState } from '@svc/contract/upload.ts';
import { badRequest } from '@svc/service-kit/service-error.ts';
import { setAside } from './chunk-aside.ts';
import { PrefixHash, type Tap } from './prefix-hash.ts';
import { checkAnnounced, readChunk } from './read-chunk.ts';
import type { Staging, UploadPlan } from './staging.ts';

/** How often received bytes are synced to the disk in the background, so that the end has little left to sync. */
const syncEveryMs = 5000;

export type ChunkBody = {
  body: Readable;
  /** From the header, or null. */
  length: number | null;
  /** Lower-case hex, or null. */
  sha256: string | null;
};

export type ChunkRules = {
  /** Bytes. */
  maxChunk: number;
  /** Runs work on received data, never while the upload is being ended. @throws ServiceError `not_found` after its end. */
  whileOpen: (work: () => Promise<void>) => Promise<void>;
};

/** One upload in progress. Chunks arrive in any order and in parallel; those with the same index are taken one after the other. */
export class ChunkedUpload {
  readonly id: string;
  readonly plan: UploadPlan;
  readonly #staging: Staging;
  readonly #map: Uint8Array;
  readonly #rules: ChunkRules;
  readonly #hash: PrefixHash;
  readonly #lines = new Map<number, Promise<void>>();
  #received: number;
  #syncsSoon = false;
  /** Why the disk lost bytes that were written; a new object each time. */
  #loss: { cause: unknown } | null = null;
  /** Bytes written since the last sync. */
  unsynced = 0;
  writing = 0;

  constructor(id: string, { plan, map }: { plan: UploadPlan; map: Uint8Array }, staging: Staging, rules: ChunkRules) {
    this.id = id;
    this.plan = plan;
    this.#staging = staging;
    this.#map = map;
    this.#rules = rules;
    this.#received = map.reduce((sum, byte) => sum + byte, 0);
    this.#hash = new PrefixHash({
      file: staging.dataOf(id),
      chunks: plan.chunks,
      offsetOf: (index) => this.#offsetOf(index),
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

  /** The first `limit` missing chunks. */
  missing = (limit: number): number[] => this.#indexes(0, limit);

  /** The digest of the whole file. Called when all chunks are stored. */
  digest = (): Promise<string> => this.#hash.digest();
  /** The whole file does not match its digest: the next check reads all of it again. */
  invalidate = (): void => this.#hash.reset();

  /**
   * Receives one chunk. It counts once it is complete and its digest matches, and then replaces an earlier one; until then the file keeps
   * its bytes.
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
      await (isKnown ? this.#takeAgain(index, body, sha256) : this.#store(index, body, sha256, tap));
      hasLanded = true;
    } finally {
      tap?.end(hasLanded);
      this.#hash.advance();
    }
  }

  /** The chunk was stored before. The new bytes are checked in a separate file, and replace the old ones when they differ. */
  async #takeAgain(index: number, body: Readable, sha256: string | null): Promise<void> {
    const aside = await setAside(this.#staging.asideOf(this.id, index));
    try {
      const expected = { ...this.#expected(index), sha256 };
      await readChunk(body, expected, { handle: aside.handle, position: 0 });
      const place = { open: () => this.#staging.open(this.id), position: this.#offsetOf(index), length: expected.length };
      await this.#rules.whileOpen(async () => {
        if (this.#map[index] === 1 && (await aside.isAt(place))) return;
        await this.#replace(index, () => aside.copyTo(place));
      });
    } finally {
      await aside.remove();
    }
  }

  /** The chunk counts as missing while it is written, so that one that is cut off is sent again. */
  async #replace(index: number, write: () => Promise<void>): Promise<void> {
    const loss = this.#loss;
    await this.#staging.mark(this.id, index, false);
    if (this.#map[index] === 1) this.#received--;
    this.#map[index] = 0;
    this.#hash.changed(index);
    await write();
    await this.#landed(index, loss);
  }

  async #store(index: number, body: Readable, sha256: string | null, tap: Tap | null): Promise<void> {
    const loss = this.#loss;
    const handle = await this.#staging.open(this.id);
    try {
      await readChunk(body, { ...this.#expected(index), sha256 }, { handle, position: this.#offsetOf(index) }, tap);
    } finally {
      await handle.close();
    }
    await this.#landed(index, loss);
  }

  /** `loss`: the write error that was known before the chunk was written. */
  async #landed(index: number, loss: { cause: unknown } | null): Promise<void> {
    await this.#staging.mark(this.id, index, true);
    if (this.#loss !== null && this.#loss !== loss) {
      await this.#staging.keepMap(this.id, this.#map);
      throw this.#loss.cause;
    }
    this.#map[index] = 1;
    this.#received++;
    this.unsynced += this.#lengthOf(index);
    this.#syncSoon();
  }

  /** Nobody waits for it. A loss shows at the end, where the lost chunks are missing. */
  #syncSoon(): void {
    if (this.#syncsSoon) return;
    this.#syncsSoon = true;
    const again = () => void (this.#syncsSoon = false);
    setTimeout(() => void this.sync().then(again, again), syncEveryMs).unref();
  }

  /**
   * Syncs the received bytes to the disk. After a failed sync they may never reach it: the system reports the error once, and goes on
   * serving the bytes from its cache. So all chunks have to be sent again.
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

  /** Syncs at the end, when all chunks are stored. @throws also when a concurrent sync has failed since then. */
  async syncAll(): Promise<void> {
    await this.sync();
    if (this.#received < this.plan.chunks && this.#loss !== null) throw this.#loss.cause;
  }

  /** @throws the disk's error, even when resetting the chunks fails too. */
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

  #offsetOf(index: number): number {
    return index * this.plan.chunk_size;
  }

  #expected(index: number) {
    return { index, length: this.#lengthOf(index), maxChunk: this.#rules.maxChunk };
  }

  #checkLength(index: number, length: number | null): void {
    if (!Number.isSafeInteger(index) || index < 0 || index >= this.plan.chunks) {
      throw badRequest(`There is no chunk ${index}: this upload has ${this.plan.chunks}, counted from 0.`);
    }
    if (length !== null) checkAnnounced(length, this.#expected(index));
  }
}
