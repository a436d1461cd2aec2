import { closeSync, fstatSync, ftruncateSync, openSync, readFileSync, readSync, rmSync, writeSync } from 'node:fs';

/** Complete lines of a segment, with their line breaks, and where the next ones begin. `bytes` is a view of the reader's buffer. */
export type Lines = { bytes: Buffer; count: number; end: number };

/**
 * One file of the spool: lines are appended at its end and read from its front. A torn line is cut off, so every line in
 * `bytes` is complete.
 */
export class Segment {
  readonly file: string;
  /** True when this process wrote it, and all lines are therefore complete. */
  readonly isOwn: boolean;
  bytes = 0;
  lines = 0;
  /** How far it was read: nothing before this offset is needed any more. */
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

  /** Opens a segment of an earlier process. Bytes after its last line break are an unfinished line. */
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

  /** True when the file was deleted: this process can still read it, but a later one cannot. */
  isUnlinked(): boolean {
    return fstatSync(this.#fd).nlink === 0;
  }

  /** Appends complete lines with their line breaks. When the disk is full, it throws and leaves the file unchanged. */
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

  /** Reads up to `maxLines` unread lines into `buffer`; the position changes only with `advance`. */
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

  /** Empties the file once everything was read, so that it never contains what is already delivered. */
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
