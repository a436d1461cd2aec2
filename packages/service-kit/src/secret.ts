import type * as Crypto from 'node:crypto';

/** `inspect.custom`, without loading `node:util` for it. */
const inspectCustom = Symbol.for('nodejs.util.inspect.custom');

/**
 * A value that must not leak. It cannot be logged, printed or serialized by accident: only `reveal()` returns it,
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

  /** Compares digests, so that it takes constant time whatever the lengths. */
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
/** Loaded by the first comparison: most commands make none, and loading takes a quarter of Node's own start. */
const crypto = () => (loaded ??= process.getBuiltinModule('node:crypto'));

const digest = (text: string) => crypto().createHash('sha256').update(text).digest();
