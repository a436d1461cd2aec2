import type { Steps } from '../redaction/pace.ts';
import { ServiceError } from '../service-error.ts';

/** What is parsed in one step, about: a fraction of a millisecond, whatever stands in it. */
const usualStep = 16 * 1024;

export type Parsed = {
  value: unknown;
  /** The text may hold half of a surrogate pair, as only an escape can. */
  mayBeIllFormed: boolean;
  /** A name may be one that reaches for a prototype. */
  mayBePoisoned: boolean;
};

/** An escape of half a surrogate pair. */
const half = /\\u[dD][89a-fA-F]/;
/** Such a name as it stands, or something that may spell it. */
const poison = /__proto__|constructor|\\u00/;

/**
 * What `JSON.parse` makes of UTF-8 text, in steps, each with little of it. The text is nested no deeper than `JsonShape` lets it be.
 * @throws SyntaxError, or ServiceError `too_large`.
 */
export function* parseSteps(bytes: Buffer, stepBytes = usualStep): Steps<Parsed> {
  const parser = new Parser(bytes, stepBytes);
  const value = yield* parser.whole();
  return { value, mayBeIllFormed: parser.mayBeIllFormed, mayBePoisoned: parser.mayBePoisoned };
}

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const backslash = 0x5c;
const listStart = 0x5b;
const listEnd = 0x5d;
const objectStart = 0x7b;
const objectEnd = 0x7d;
const letterU = 0x75;

/** A run of parts of a list or an object. `isWhole`: they are all whole; else it is the beginning of a part that is too long. */
type Run = { end: number; isWhole: boolean };

/**
 * Walks long values itself and gives short ones to `JSON.parse`, many at a time: it alone decides what they are. So each
 * byte is looked at twice, to find where a part ends.
 */
class Parser {
  readonly #bytes: Buffer;
  readonly #stepBytes: number;
  #at = 0;
  mayBeIllFormed = false;
  mayBePoisoned = false;

  constructor(bytes: Buffer, stepBytes: number) {
    this.#bytes = bytes;
    this.#stepBytes = stepBytes;
  }

  *whole(): Steps<unknown> {
    const value = yield* this.#value();
    yield* this.#passSpace();
    if (this.#at < this.#bytes.length) throw notJson();
    return value;
  }

  *#value(): Steps<unknown> {
    yield* this.#passSpace();
    const first = this.#bytes[this.#at];
    if (first === quote) return yield* this.#string();
    if (first === listStart) return yield* this.#list();
    if (first === objectStart) return yield* this.#object();
    return this.#scalar();
  }

  /** Only a number can be long, and none that means anything is. */
  #scalar(): unknown {
    const limit = this.#at + usualStep;
    let end = this.#at;
    while (end < limit && !isEndOfScalar(this.#bytes[end])) end++;
    if (end === limit) throw isOfNumber(this.#bytes[this.#at]!) ? longNumber() : notJson();
    return this.#take(end, '', '');
  }

  *#list(): Steps<unknown[]> {
    const list: unknown[] = [];
    this.#at++;
    for (let isFirst = true; ; isFirst = false) {
      yield* this.#passSpace();
      const { end, isWhole } = this.#run(this.#at);
      const items = isWhole ? (this.#take(end, '[', ']') as unknown[]) : [yield* this.#value()];
      for (const item of items) list.push(item);
      if (yield* this.#isLast(listEnd, isFirst, items.length)) return list;
      yield;
    }
  }

  *#object(): Steps<object> {
    const object: Record<string, unknown> = {};
    this.#at++;
    for (let isFirst = true; ; isFirst = false) {
      yield* this.#passSpace();
      const { end, isWhole } = this.#run(this.#at);
      const fields = isWhole ? Object.entries(this.#take(end, '{', '}') as object) : [yield* this.#field()];
      for (const [name, value] of fields) put(object, name, value);
      if (yield* this.#isLast(objectEnd, isFirst, fields.length)) return object;
      yield;
    }
  }

  *#field(): Steps<[string, unknown]> {
    yield* this.#passSpace();
    if (this.#bytes[this.#at] !== quote) throw notJson();
    const name = yield* this.#string();
    this.mayBePoisoned ||= poison.test(name);
    yield* this.#passSpace();
    if (this.#bytes[this.#at++] !== colon) throw notJson();
    return [name, yield* this.#value()];
  }

  /** Goes behind the comma or the end that must follow. Between two commas, and before an end, there must be something. */
  *#isLast(closing: number, isFirst: boolean, parts: number): Steps<boolean> {
    yield* this.#passSpace();
    const next = this.#bytes[this.#at++];
    if (next !== closing && next !== comma) throw notJson();
    const isLast = next === closing;
    if (parts === 0 && !(isFirst && isLast)) throw notJson();
    return isLast;
  }

  *#string(): Steps<string> {
    const parts: string[] = [];
    this.#at++;
    for (;;) {
      const end = this.#endOfPiece(this.#at);
      parts.push(this.#take(end, '"', '"') as string);
      if (this.#bytes[end] === quote) break;
      if (end >= this.#bytes.length) throw notJson();
      yield;
    }
    this.#at++;
    if (parts.length > 1) yield; // to join them is a step too
    return parts.join('');
  }

  /** The end of the string, or a place in it where neither an escape nor a character is cut. */
  #endOfPiece(from: number): number {
    const bytes = this.#bytes;
    const limit = Math.min(from + this.#stepBytes, bytes.length);
    let at = from;
    while (at < limit && bytes[at] !== quote) {
      if (bytes[at] === backslash) at += bytes[at + 1] === letterU ? 6 : 2;
      else at++;
    }
    while (at < bytes.length && isInCharacter(bytes[at]!)) at++;
    return Math.min(at, bytes.length);
  }

  /** As many whole parts from here on as make a step; their end is the comma or the bracket behind them. */
  #run(from: number): Run {
    const bytes = this.#bytes;
    const limit = Math.min(from + this.#stepBytes, bytes.length);
    let end = -1;
    let depth = 0;
    for (let at = from; at < limit; at++) {
      const byte = bytes[at]!;
      if (byte === quote) at = this.#endOfString(at + 1, limit);
      else if (byte === listStart || byte === objectStart) depth++;
      else if (byte === listEnd || byte === objectEnd) {
        if (--depth < 0) return { end: at, isWhole: true };
      } else if (byte === comma && depth === 0) end = at;
    }
    if (end !== -1) return { end, isWhole: true };
    return { end: limit, isWhole: limit === bytes.length };
  }

  #endOfString(from: number, limit: number): number {
    const bytes = this.#bytes;
    let at = from;
    while (at < limit && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
    return at;
  }

  /** What stands here, up to `end`, as `JSON.parse` reads it between two brackets or quotes. */
  #take(end: number, before: string, after: string): unknown {
    const text = this.#bytes.toString('utf8', this.#at, end);
    this.#at = end;
    this.mayBeIllFormed ||= half.test(text);
    this.mayBePoisoned ||= before === '"' ? false : poison.test(text);
    return JSON.parse(before + text + after);
  }

  *#passSpace(): Steps<void> {
    for (let passed = 1; isSpace(this.#bytes[this.#at]); passed++) {
      this.#at++;
      if (passed % usualStep === 0) yield;
    }
  }
}

const isSpace = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
const isOfNumber = (byte: number): boolean => byte === 0x2d || (byte >= 0x30 && byte <= 0x39);
const isEndOfScalar = (byte: number | undefined): boolean =>
  byte === undefined || byte === comma || byte === listEnd || byte === objectEnd || isSpace(byte);
const isInCharacter = (byte: number): boolean => (byte & 0xc0) === 0x80;

/** As `JSON.parse` does: a field of any name is the object's own. */
function put(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__') Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
  else object[name] = value;
}

const longNumber = () => new ServiceError('too_large', `The request has a number of more than ${usualStep} digits.`);
const notJson = () => new SyntaxError('it is not JSON');
