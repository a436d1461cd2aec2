import { closeSync, fstatSync, ftruncateSync, openSync, readFileSync, readSync, rmSync, writeSync } from 'node:fs';

/** Complete lines of a segment, each with its line break, and where the next ones begin. `bytes` lies in the reader's buffer. */
export type Lines = { bytes: Buffer; count: number; end: number };

/**
 * One file of the spool: lines are appended at its end and read from its front. What a write left torn is cut off, so
 * every line inside `bytes` is whole.
 */
export class Segment {
  readonly file: string;
  /** Written by this process, and therefore whole. */
  readonly isOwn: boolean;
  bytes = 0;
  lines = 0;
  /** What the reader has behind it: nothing before this offset is needed any more. */
  readBytes = 0;
  readLines = 0;
  #fd: number;

  private constructor(file: string, fd: number, isOwn: boolean) {
    this.file = file;
    this.isOwn = isOwn;
    this.#fd = fd;
  }

  static create(file: string): Segment {
    return new Segment(file, openSync(file, 'ax+', 0o600), true);
  }

  /** A segment of an earlier process. Bytes after its last line break are a line that never was finished. */
  static reopen(file: string): Segment {
    const content = readFileSync(file);
    const segment = new Segment(file, openSync(file, 'r+'), false);
    segment.bytes = content.lastIndexOf(10) + 1;
    for (let at = content.indexOf(10); at !== -1; at = content.indexOf(10, at + 1)) segment.lines++;
    return segment;
  }

  get unread(): number {
    return this.lines - this.readLines;
  }

  /** A person or program has removed the file: what is in it can still be read here, and by no later process. */
  isUnlinked(): boolean {
    return fstatSync(this.#fd).nlink === 0;
  }

  /** Appends whole lines (with their line breaks). Throws without a trace in the file when they do not fit on the disk. */
  append(text: string, lines: number): void {
    const length = Buffer.byteLength(text);
    try {
      let done = writeSync(this.#fd, text);
      const rest = done < length ? Buffer.from(text) : null;
      while (rest !== null && done < length) done += writeSync(this.#fd, rest, done);
    } catch (error) {
      ftruncateSync(this.#fd, this.bytes);
      throw error;
    }
    this.bytes += length;
    this.lines += lines;
  }

  /** Up to `maxLines` unread lines from one read into `buffer`; the reader stays where it is until `advance`. */
  read(maxLines: number, buffer: Buffer): Lines {
    const size = readSync(this.#fd, buffer, 0, Math.min(buffer.length, this.bytes - this.readBytes), this.readBytes);
    const content = buffer.subarray(0, size);
    let count = 0;
    let end = 0;
    for (let at = content.indexOf(10); at !== -1 && count < maxLines; at = content.indexOf(10, end)) {
      end = at + 1;
      count++;
    }
    return { bytes: content.subarray(0, end), count, end: this.readBytes + end };
  }

  advance(end: number, lines: number): void {
    this.readBytes = end;
    this.readLines += lines;
  }

  /** Everything was read: the file is emptied, so that it never holds what is already delivered. */
  empty(): void {
    ftruncateSync(this.#fd, 0);
    this.bytes = this.lines = this.readBytes = this.readLines = 0;
  }

  close(): void {
    closeSync(this.#fd);
  }

  remove(): void {
    closeSync(this.#fd);
    rmSync(this.file, { force: true });
  }
}
