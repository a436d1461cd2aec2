import { createHash, type Hash } from 'node:crypto';
import { open } from 'node:fs/promises';

const readBytes = 1024 * 1024;

/** Hashes one chunk while it is received. A chunk that is not stored leaves no trace in the hash. */
export type Tap = { update(bytes: Buffer): void; end(hasLanded: boolean): void };

export type PrefixSource = {
  file: string;
  chunks: number;
  /** Length of a chunk in bytes. */
  lengthOf(index: number): number;
  offsetOf(index: number): number;
  isReceived(index: number): boolean;
};

/**
 * The sha256 of a file whose chunks arrive in any order, computed while they arrive: the next chunk in order is hashed as it passes, one
 * that came early is read again when its turn comes. At the end little is left to hash.
 */
export class PrefixHash {
  readonly #source: PrefixSource;
  #hash: Hash = createHash('sha256');
  #next = 0;
  #tapped = false;
  #running: Promise<void> | null = null;
  /** Incremented by each reset: work begun before it is discarded. */
  #era = 0;

  constructor(source: PrefixSource) {
    this.#source = source;
  }

  /** A tap for the chunk that is next in order; null for any other. */
  tap(index: number): Tap | null {
    if (index !== this.#next || this.#tapped || this.#running !== null) return null;
    const trial = this.#hash.copy();
    const era = this.#era;
    this.#tapped = true;
    return {
      update: (bytes) => void trial.update(bytes),
      end: (hasLanded) => {
        this.#tapped = false;
        if (!hasLanded || era !== this.#era) return;
        this.#hash = trial;
        this.#next++;
      },
    };
  }

  /** Hashes stored chunks in the background. `digest` reports an error. */
  advance(): void {
    if (this.#tapped || this.#running !== null || !this.#isReady()) return;
    this.#running = this.#readOn().finally(() => (this.#running = null));
    this.#running.catch(() => undefined); // `digest` reads again, and reports it
  }

  /** The digest of the whole file, hex. Call it when every chunk is stored. */
  async digest(): Promise<string> {
    await this.#running?.catch(() => undefined);
    // `advance` is the only reader: two concurrent ones would each count a chunk.
    this.advance();
    await this.#running;
    if (this.#next < this.#source.chunks) throw new Error('a digest was asked for before every chunk had landed');
    return this.#hash.copy().digest('hex');
  }

  /** Starts again: the hashed bytes may differ from those in the file. */
  reset(): void {
    this.#hash = createHash('sha256');
    this.#next = 0;
    this.#era++;
  }

  /** A stored chunk is about to be replaced. */
  changed(index: number): void {
    if (index <= this.#next) this.reset();
  }

  #isReady(): boolean {
    return this.#next < this.#source.chunks && this.#source.isReceived(this.#next);
  }

  async #readOn(): Promise<void> {
    if (!this.#isReady()) return;
    const handle = await open(this.#source.file, 'r');
    const buffer = Buffer.allocUnsafe(readBytes);
    const era = this.#era;
    try {
      while (this.#isReady()) {
        const trial = this.#hash.copy();
        const end = this.#source.offsetOf(this.#next) + this.#source.lengthOf(this.#next);
        for (let at = this.#source.offsetOf(this.#next); at < end;) {
          const { bytesRead } = await handle.read(buffer, 0, Math.min(readBytes, end - at), at);
          if (bytesRead === 0) throw new Error('a staged file is shorter than its chunks');
          trial.update(buffer.subarray(0, bytesRead));
          at += bytesRead;
        }
        if (era !== this.#era) return;
        this.#hash = trial;
        this.#next++;
      }
    } finally {
      await handle.close();
    }
  }
}
