import { ServiceError } from '../service-error.ts';
import type { ByteLease } from './byte-budget.ts';
import { createByteBlocks } from './byte-blocks.ts';
import type { Intake } from './intake.ts';
import { SpillFile } from './spill-file.ts';

/**
 * A body that is being received: in memory while it is small and there is room, else on disk. Its bytes are counted as they
 * arrive, and given back by `release`, which may be called at any time and more than once.
 */
export class IncomingBody {
  readonly #intake: Intake;
  readonly #maxBytes: number;
  readonly #memory: ByteLease;
  readonly #disk: ByteLease;
  readonly #blocks = createByteBlocks();
  #file: Promise<SpillFile> | null = null;
  #last: Promise<void> = Promise.resolve();
  #isOver = false;
  #isLong = false;
  #length = 0;

  constructor(intake: Intake, maxBytes: number) {
    this.#intake = intake;
    this.#maxBytes = maxBytes;
    this.#memory = intake.memory.lease();
    this.#disk = intake.disk.lease();
  }

  /** The declared length decides where the body is stored. Bytes are counted only when they arrive. */
  expect(declared: number): void {
    if (declared > this.#maxBytes) throw tooLarge(this.#maxBytes);
    this.#isLong = declared > this.#intake.limits.inMemoryBytes;
  }

  /** Adds a part. Returns null, or a promise to await before the next part. Throws if the part is refused. */
  add(part: Buffer): Promise<void> | null {
    if (this.#isOver) return null;
    this.#length += part.length;
    if (this.#length > this.#maxBytes) throw tooLarge(this.#maxBytes);
    if (this.#file === null && this.#staysInMemory(part.length)) {
      this.#blocks.add(part);
      return null;
    }
    this.#last = this.#last.then(() => this.#spill(part));
    return this.#last;
  }

  /** The whole body, once there is memory for it, which is held until `release`. */
  async read(): Promise<Buffer> {
    await this.#last; // a stream may end while its last part is still being written
    if (this.#file === null) return this.#blocks.take();
    const { limits } = this.#intake;
    if (!(await this.#memory.wait(this.#length, limits.waitMs))) throw this.#intake.full();
    const bytes = await (await this.#file).read();
    await this.#leaveDisk();
    return bytes;
  }

  release(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#memory.release();
    this.#blocks.drop();
    void this.#leaveDisk();
  }

  #staysInMemory(bytes: number): boolean {
    const { freeBytes, inMemoryBytes, comingBytes } = this.#intake.limits;
    if (this.#length <= freeBytes) return true;
    return !this.#isLong && this.#length <= inMemoryBytes && this.#memory.take(bytes, comingBytes);
  }

  async #spill(part: Buffer): Promise<void> {
    if (this.#isOver) return;
    const before = this.#blocks.length === 0 ? null : this.#blocks.take();
    if (!this.#disk.take(part.length + (before?.length ?? 0))) throw this.#intake.full();
    this.#file ??= SpillFile.open(this.#intake.dir);
    const file = await this.#file;
    if (before !== null) await file.write(before);
    this.#memory.clear();
    await file.write(part);
  }

  /** Closes the file after the last write. Errors of writes were reported to their callers. */
  async #leaveDisk(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    await this.#last.catch(() => undefined);
    this.#disk.release();
    await file?.then((open) => open.close()).catch(() => undefined);
  }
}

const tooLarge = (limit: number) =>
  new ServiceError('too_large', `The body is larger than ${limit} bytes, which is the limit here.`, { details: { limit } });
