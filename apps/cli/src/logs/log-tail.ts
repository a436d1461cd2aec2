import { closeSync, existsSync, fstatSync, openSync, readSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { toLogEntry, type LogEntry } from './log-line.ts';

const pieceBytes = 64 * 1024;
const maxTailBytes = 8 * 1024 * 1024;

/** Names that have a log, sorted. */
export const listLogs = (dir: string): string[] =>
  existsSync(dir)
    ? readdirSync(dir)
        .flatMap((file) => /^(.+)\.log$/.exec(file)?.[1] ?? [])
        .sort()
    : [];

export type LogTail = {
  /** The lines written since the last call; at the first call the last `lines` lines. Complete lines only. */
  read(): LogEntry[];
};

/** Follows one log file across its rotation (it is renamed, and a new one is created). */
export function createLogTail(dir: string, name: string, lines: number): LogTail {
  const file = path.join(dir, `${name}.log`);
  let inode: number | null = null;
  let offset = 0;
  let last = 0;
  const toEntries = (text: string): LogEntry[] =>
    text
      .split('\n')
      .filter((raw) => raw !== '')
      .map((raw) => {
        const entry = toLogEntry(name, raw, last);
        last = entry.at;
        return entry;
      });
  /** The lines written between the last read and the rotation. */
  const readRest = (): LogEntry[] =>
    withFile(`${file}.1`, (fd) => {
      const { ino, size } = fstatSync(fd);
      return ino === inode ? toEntries(readRange(fd, offset, size).toString('utf8')) : [];
    });
  return {
    read() {
      const isFirst = inode === null && offset === 0;
      return withFile(file, (fd) => {
        const { ino, size } = fstatSync(fd);
        const missed = !isFirst && ino !== inode ? readRest() : [];
        if (ino !== inode || size < offset) offset = 0;
        inode = ino;
        const text = isFirst ? readEnd(fd, size, lines) : readRange(fd, offset, size);
        const end = text.lastIndexOf(0x0a) + 1;
        // An incomplete line is read again with its rest.
        offset = size - (text.length - end);
        const entries = toEntries(text.subarray(0, end).toString('utf8'));
        return isFirst ? entries.slice(-lines || entries.length) : [...missed, ...entries];
      });
    },
  };
}

function withFile(file: string, read: (fd: number) => LogEntry[]): LogEntry[] {
  let fd: number;
  try {
    fd = openSync(file, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  try {
    return read(fd);
  } finally {
    closeSync(fd);
  }
}

/** At least the last `lines` lines, read backwards, bounded to 8 MiB. */
function readEnd(fd: number, size: number, lines: number): Buffer {
  let from = size;
  let text = Buffer.alloc(0);
  let breaks = 0;
  while (from > 0 && breaks <= lines && text.length < maxTailBytes) {
    const piece = readRange(fd, Math.max(0, from - pieceBytes), from);
    from -= piece.length;
    breaks += piece.reduce((count, byte) => count + (byte === 0x0a ? 1 : 0), 0);
    text = Buffer.concat([piece, text]);
  }
  return text;
}

function readRange(fd: number, from: number, to: number): Buffer {
  const buffer = Buffer.alloc(Math.max(0, Math.min(to - from, maxTailBytes)));
  const start = to - buffer.length;
  return buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, start));
}
