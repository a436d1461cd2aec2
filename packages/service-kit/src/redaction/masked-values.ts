import type { Clock } from '../clock.ts';
import { secretParts } from './secret-parts.ts';

/** A former secret is masked for this long: it may still be valid, and conversations may still mention it. */
const retiredMs = 24 * 60 * 60 * 1000;

/** The current secrets and those that were replaced lately, with the spellings under which each is masked. */
export class MaskedValues {
  readonly #clock: Clock;
  #current: ReadonlySet<string> = new Set();
  /** Former secrets, and until when each is masked. */
  readonly #retired = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isEmpty(): boolean {
    return this.#current.size === 0;
  }

  /** Makes `next` the current secrets and retires the others. Returns everything to mask. */
  replace(next: ReadonlySet<string>): ReadonlySet<string> {
    const now = this.#clock.elapsed();
    for (const value of this.#current) this.#retired.set(value, now + retiredMs);
    for (const [value, until] of this.#retired) if (until <= now || next.has(value)) this.#retired.delete(value);
    this.#current = next;
    return this.#all();
  }

  /** Adds to the current secrets. Returns everything to mask; null when nothing is new. */
  add(values: readonly string[]): ReadonlySet<string> | null {
    const added = values.filter((value) => !this.#current.has(value));
    if (added.length === 0) return null;
    this.#current = new Set([...this.#current, ...added]);
    return this.#all();
  }

  #all(): ReadonlySet<string> {
    const values = [...this.#current, ...this.#retired.keys()];
    return new Set(values.flatMap((value) => [value, ...secretParts(value)]).flatMap(withRounded));
  }
}

/** A secret with more digits than a number can represent is rounded where JSON was parsed, which leaves most of its digits. */
const withRounded = (value: string): string[] => (/^\d{16,}$/.test(value) ? [value, String(Number(value))] : [value]);
