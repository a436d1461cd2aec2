import type { Steps } from '../redaction/pace.ts';
import { ServiceError } from '../service-error.ts';

/** About how many bytes are parsed in one step, which takes a fraction of a millisecond, whatever they are. */
const usualStep = 16 * 1024;

export type Parsed = {
  value: unknown;
  /** The text may contain half of a surrogate pair, which is possible only as an escape. */
  mayBeIllFormed: boolean;
  /** A field name may be one that accesses a prototype. */
  mayBePoisoned: boolean;
};

/** An escape of half a surrogate pair. */
const half = /\\u[dD][89a-fA-F]/;
/** Such a name, or an escape that may be a part of it. */
const poison = /__proto__|constructor|\\u00/;

/**
 * Parses UTF-8 text like `JSON.parse`, in small steps. `JsonShape` must have checked the depth of the text before.
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

/** A run of items or fields. `isWhole`: all are complete; else it is the beginning of one that is too long. */
type Run = { end: number; isWhole: boolean };

/**
 * Walks long values itself and passes short ones to `JSON.parse`, many at a time, which alone decides their values. So each
 * byte is read twice, because the end of each part has to be found first.
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

  /** Of these only a number can be long, and no sensible number is. */
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

  /** Passes the comma or the closing bracket that must follow. A part between commas, or before a bracket, must not be empty. */
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
    if (parts.length > 1) yield; // joining them is a step too
    return parts.join('');
  }

  /** The end of the string, or a position in it that is not within an escape or a character. */
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

  /** As many whole parts from here on as fit in a step; their end is the comma or bracket after them. */
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

  /** Parses the bytes up to `end` by `JSON.parse`, between brackets or quotes. */
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

/** Like `JSON.parse`: a field of any name becomes an own property. */
function put(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__') Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
  else object[name] = value;
}

const longNumber = () => new ServiceError('too_large', `The request has a number of more than ${usualStep} digits.`);
const notJson = () => new SyntaxError('it is not JSON');
