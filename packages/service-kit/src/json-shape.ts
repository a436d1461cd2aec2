import { ServiceError } from './service-error.ts';

export type JsonLimits = {
  /** Lists and objects within each other. */
  depth: number;
  /** Objects and fields in total: parsing one costs up to a hundred times as much as an item of a list. */
  fields: number;
  /** Lists and items in total. */
  items: number;
};

/** Above our largest request, an envelope with a transcript of 10,000 messages. */
export const usualJsonLimits: JsonLimits = { depth: 100, fields: 40_000, items: 200_000 };

/**
 * For requests whose values are checked one by one later, however unusual they are: as much as can be parsed in a moment. The depth is
 * about that which JSON parsers and writers support.
 */
export const looseJsonLimits: JsonLimits = { depth: 150_000, fields: 500_000, items: 2_000_000 };

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const listStart = 0x5b;
const backslash = 0x5c;
const listEnd = 0x5d;
const objectStart = 0x7b;
const objectEnd = 0x7d;

/** 1 for bytes that are counted outside of strings. */
const counts = new Uint8Array(256);
for (const byte of [comma, colon, listStart, listEnd, objectStart, objectEnd]) counts[byte] = 1;

/**
 * Counts the parts of JSON while its bytes arrive, before it is parsed: ten megabytes of small values would block a process
 * for seconds. Whether it is valid JSON is left to the parser.
 */
export class JsonShape {
  readonly #limits: JsonLimits;
  #isInString = false;
  #isEscaped = false;
  #depth = 0;
  #deepest = 0;
  #fields = 0;
  #items = 0;

  constructor(limits: JsonLimits = usualJsonLimits) {
    this.#limits = limits;
  }

  /** The maximum depth so far. */
  get deepest(): number {
    return this.#deepest;
  }

  /** Objects and their fields, so far. */
  get fields(): number {
    return this.#fields;
  }

  /** Adds a part. @throws ServiceError `too_large` when a limit is exceeded. */
  take(part: Uint8Array): void {
    const { length } = part;
    let i = this.#isInString ? this.#passString(part, 0) : 0;
    while (i < length) {
      const byte = part[i++]!;
      if (byte === quote) i = this.#passString(part, i);
      else if (counts[byte] === 1) this.#count(byte);
    }
    this.#check();
  }

  /** Skips the string that continues here; returns the position after it. */
  #passString(part: Uint8Array, from: number): number {
    const { length } = part;
    let i = this.#isEscaped ? from + 1 : from;
    while (i < length && part[i] !== quote) i += part[i] === backslash ? 2 : 1;
    this.#isInString = i >= length;
    this.#isEscaped = i > length;
    return i + 1;
  }

  #count(byte: number): void {
    if (byte === comma) this.#items++;
    else if (byte === colon) this.#fields++;
    else if (byte === listStart || byte === objectStart) this.#open(byte);
    else if (byte === listEnd || byte === objectEnd) this.#depth--;
  }

  #open(byte: number): void {
    if (byte === listStart) this.#items++;
    else this.#fields++;
    this.#depth++;
    if (this.#depth > this.#deepest) this.#deepest = this.#depth;
    if (this.#depth > this.#limits.depth) throw tooLarge(`is nested more than ${this.#limits.depth} levels deep`);
  }

  #check(): void {
    const { fields, items } = this.#limits;
    if (this.#fields > fields) throw tooLarge(`has more than ${fields} objects and fields`);
    if (this.#items > items) throw tooLarge(`has more than ${items} lists and items`);
  }
}

const tooLarge = (what: string) => new ServiceError('too_large', `The request ${what}, which is the limit here.`);
