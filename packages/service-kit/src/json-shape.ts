import { ServiceError } from './service-error.ts';

export type JsonLimits = {
  /** Lists and objects within each other. */
  depth: number;
  /** Objects and their fields, all together: reading one costs up to a hundred times what an item of a list does. */
  fields: number;
  /** Lists and their items, all together. */
  items: number;
};

/** More than the largest request of ours has: an envelope with a transcript of 10,000 messages. */
export const usualJsonLimits: JsonLimits = { depth: 100, fields: 40_000, items: 200_000 };

/**
 * Where each value in a request is judged by itself, however odd it is: as much as can be read in a moment, all the same. Parsers and
 * writers of JSON go about as deep.
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

/** 1 for what counts, outside of strings. */
const counts = new Uint8Array(256);
for (const byte of [comma, colon, listStart, listEnd, objectStart, objectEnd]) counts[byte] = 1;

/**
 * Counts what JSON is made of while its bytes come in, before anything parses it: ten megabytes of small values hold up a
 * process for seconds. Whether it is JSON at all is the parser's question.
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

  /** How many levels deep it went. */
  get deepest(): number {
    return this.#deepest;
  }

  /** Objects and their fields, so far. */
  get fields(): number {
    return this.#fields;
  }

  /** @throws ServiceError `too_large` when it is made of more than a request may be. */
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

  /** Behind the string that goes on here, as far as it has come. */
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
