import { readdirSync } from 'node:fs';
import path from 'node:path';
import { makePrivateDir } from '../files.ts';
import { errorText } from '../service-error.ts';
import { Segment, type Lines } from './segment.ts';

export type SpoolLimits = { segmentBytes: number; totalBytes: number };
export type SpoolBatch = Lines & { segment: Segment };

export const spoolLimits: SpoolLimits = { segmentBytes: 4 * 1024 * 1024, totalBytes: 64 * 1024 * 1024 };
/** More than the longest line in bytes, so that one read always contains a complete one. */
const readBytes = 1024 * 1024;
/** For a quiet producer with few lines. */
const smallReadBytes = 64 * 1024;
/** Room before the lines that are read, for the opening bracket when they are sent. */
const headBytes = 1;
/** Lines beyond this are written before the turn of the event loop ends. */
const maxPendingLength = 1024 * 1024;

/**
 * A queue of outgoing lines in files. An appended line is with the operating system before the current turn of the event loop
 * ends, so it outlives a killed process. Lines are sent in order and removed when acknowledged; when there is no room, the
 * oldest segment is dropped. One process at a time owns the files of a producer.
 */
export class Spool {
  readonly #dir: string;
  readonly #producer: string;
  readonly #limits: SpoolLimits;
  readonly #onLoss: (lines: number, why: string) => void;
  #segments: Segment[] = [];
  /** The last segment, if this process may append to it. */
  #current: Segment | null = null;
  #sequence = 0;
  #pending: string[] = [];
  #pendingLength = 0;
  /** Why lines cannot be written now; null while they can. */
  fault: string | null = null;
  /** Reused for every read: allocating memory for each batch costs more than reading it. */
  #buffer = Buffer.alloc(0);

  /** Throws when the folder cannot be created or read. `onLoss` gets the number of lines that were lost, and why. */
  constructor(dir: string, producer: string, onLoss: (lines: number, why: string) => void, limits = spoolLimits) {
    if (!/^[\w.-]{1,100}$/.test(producer))
      throw new Error(`"${producer}" is not a valid producer name: use up to 100 letters, digits, _, . and -`);
    this.#dir = dir;
    this.#producer = producer;
    this.#limits = limits;
    this.#onLoss = onLoss;
    makePrivateDir(dir);
    for (const name of leftovers(dir, producer)) this.#reopen(name);
  }

  /** How many lines are not acknowledged yet. */
  get unsent(): number {
    return this.#segments.reduce((sum, segment) => sum + segment.unread, this.#pending.length);
  }

  /** Appends one line (without a line break). All lines of a turn of the event loop are written together. */
  append(line: string): void {
    this.#pendingLength += line.length;
    if (this.#pending.push(line) === 1) setImmediate(() => this.flush());
    if (this.#pendingLength > maxPendingLength) this.flush();
  }

  /** Writes the waiting lines now. Lines that cannot be written count as lost. */
  flush(): void {
    const lines = this.#pending;
    if (lines.length === 0) return;
    this.#pending = [];
    this.#pendingLength = 0;
    try {
      this.#openCurrent().append(`${lines.join('\n')}\n`, lines.length);
      this.fault = null;
    } catch (error) {
      this.fault = `the spool could not be written: ${errorText(error)}`;
      this.#onLoss(lines.length, this.fault);
    }
  }

  /** Checks whether writing works again: otherwise the fault would stay until the next event. */
  lookAgain(): void {
    try {
      this.#openCurrent();
      this.fault = null;
    } catch (error) {
      this.fault = `the spool cannot be written: ${errorText(error)}`;
    }
  }

  /** The oldest unacknowledged lines, or null. It returns the same ones until they are acknowledged. Valid until the next read. */
  read(maxLines: number): SpoolBatch | null {
    this.flush();
    const segment = this.#segments.find(({ unread }) => unread > 0);
    if (segment === undefined) return null;
    const lines = segment.read(maxLines, this.#bufferFor(segment.bytes - segment.readBytes));
    if (lines.count > 0) return { segment, ...lines };
    this.#giveUp(segment, 'a part of the spool could not be read');
    return this.read(maxLines);
  }

  /** Removes the lines of a batch, which were delivered or given up. */
  acknowledge({ segment, count, end }: SpoolBatch): void {
    if (!this.#segments.includes(segment)) return; // dropped to make room while it was being sent
    segment.advance(end, count);
    if (segment.unread > 0) return;
    if (segment === this.#current) segment.empty();
    else this.#remove(segment);
  }

  /** Leaves the unsent lines to the next process. Appending later opens a new segment. */
  close(): void {
    this.flush();
    for (const segment of this.#segments) {
      if (segment.unread === 0) this.#remove(segment);
      else segment.close();
    }
    this.#segments = [];
    this.#current = null;
  }

  #bufferFor(bytes: number): Buffer {
    const size = headBytes + (bytes > smallReadBytes ? readBytes : smallReadBytes);
    if (this.#buffer.length < size) this.#buffer = Buffer.allocUnsafeSlow(size);
    return this.#buffer.subarray(headBytes);
  }

  #reopen(name: string): void {
    const segment = Segment.reopen(path.join(this.#dir, name));
    this.#sequence = sequenceOf(name);
    if (segment.lines === 0) segment.remove();
    else this.#segments.push(segment);
  }

  #openCurrent(): Segment {
    const current = this.#current;
    if (current !== null && current.bytes < this.#limits.segmentBytes && !current.isUnlinked()) return current;
    this.#current = null;
    makePrivateDir(this.#dir);
    this.#makeRoom();
    const number = String(++this.#sequence).padStart(8, '0');
    const segment = Segment.create(path.join(this.#dir, `${this.#producer}-${number}.jsonl`));
    this.#segments.push(segment);
    this.#current = segment;
    return segment;
  }

  #makeRoom(): void {
    const room = this.#limits.totalBytes - this.#limits.segmentBytes;
    while (this.#segments.reduce((sum, { bytes }) => sum + bytes, 0) > room) {
      const oldest = this.#segments[0];
      if (oldest === undefined) return;
      this.#giveUp(oldest, 'the spool is full because the collector was unreachable for too long');
    }
  }

  #giveUp(segment: Segment, why: string): void {
    const lost = segment.unread;
    this.#remove(segment);
    this.#onLoss(lost, why);
  }

  #remove(segment: Segment): void {
    this.#segments = this.#segments.filter((other) => other !== segment);
    if (segment === this.#current) this.#current = null;
    segment.remove();
  }
}

function leftovers(dir: string, producer: string): string[] {
  const mine = (name: string) => name.startsWith(`${producer}-`) && /^\d{8}\.jsonl$/.test(name.slice(producer.length + 1));
  return readdirSync(dir).filter(mine).sort();
}

const sequenceOf = (name: string): number => Number(name.slice(-'00000000.jsonl'.length, -'.jsonl'.length));

const lineBreak = 0x0a;
const comma = 0x2c;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/**
 * Turns the lines of a batch into one JSON array in place, which avoids decoding and encoding them: serialized JSON contains
 * no line breaks, so they can be replaced. The batch must not be used afterwards.
 */
export function toJsonArray({ bytes }: Pick<SpoolBatch, 'bytes'>): Buffer {
  if (bytes.length === 0) return Buffer.from('[]');
  for (let at = bytes.indexOf(lineBreak); at !== -1; at = bytes.indexOf(lineBreak, at + 1)) bytes[at] = comma;
  const json = Buffer.from(bytes.buffer, bytes.byteOffset - headBytes, headBytes + bytes.length);
  json[0] = openBracket;
  json[json.length - 1] = closeBracket;
  return json;
}
