import type * as Crypto from 'node:crypto';

/** `inspect.custom` of `node:util`, which is not loaded for it. */
const inspectCustom = Symbol.for('nodejs.util.inspect.custom');

/**
 * A value that must not leak. It cannot be logged, printed or serialized by accident: only `reveal()` gives it out,
 * and a search for that word finds every place that does.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  /** Compares in constant time whatever the lengths, by comparing digests. */
  equals(other: string): boolean {
    return crypto().timingSafeEqual(digest(this.#value), digest(other));
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }

  [inspectCustom](): string {
    return '[secret]';
  }
}

let loaded: typeof Crypto | undefined;
/** Loaded by the first comparison: most commands make none, and it takes a quarter of the time in which Node starts. */
const crypto = () => (loaded ??= process.getBuiltinModule('node:crypto'));

const digest = (text: string) => crypto().createHash('sha256').update(text).digest();
