import { closeSync, fstatSync, mkdirSync, openSync, renameSync, writeSync, readSync } from 'node:fs';
import path from 'node:path';
import type { LogLine } from './child-spec.ts';
import { logLimits } from './log-ring.ts';

/** Appends a child's lines to `<dir>/<name>.log`. Logging never stops the service: lines that cannot be written are dropped. */
export type LogFile = {
  readonly file: string;
  write(line: LogLine): void;
  /** Why the last write failed, or null. */
  readonly fault: string | null;
  close(): void;
};

/** `onFault`: called when writing begins to fail, and when it works again. */
type Options = { dir: string; name: string; maxBytes?: number; onFault?: () => void };

/** At `maxBytes` (10 MiB) the file becomes `<name>.log.1` and a new one begins; two files are kept. */
export function createLogFile({ dir, name, maxBytes = 10 * 1024 * 1024, onFault }: Options): LogFile {
  const file = path.join(dir, `${name}.log`);
  let fd: number | null = null;
  let size = 0;
  let pending: string[] = [];
  let fault: string | null = null;

  const open = (): number => {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    const opened = openSync(file, 'a', 0o600);
    size = fstatSync(opened).size;
    return opened;
  };
  const shut = () => {
    const last = fd;
    // Even if closing fails, the descriptor is invalid.
    fd = null;
    if (last !== null) closeSync(last);
  };
  const flush = () => {
    if (pending.length === 0) return;
    const before = fault;
    append();
    if ((fault === null) !== (before === null)) onFault?.();
  };
  // Lines of one read from the pipe are written together.
  const append = () => {
    const text = Buffer.from(pending.join(''));
    pending = [];
    try {
      // Writes to a deleted file would be lost.
      if (fd !== null && fstatSync(fd).nlink === 0) shut();
      fd ??= open();
      if (size > 0 && size + text.length > maxBytes) {
        shut();
        renameSync(file, `${file}.1`);
        fd = open();
      }
      writeSync(fd, text);
      size += text.length;
      fault = null;
    } catch (error) {
      fault = (error as Error).message;
    }
  };
  return {
    file,
    write(line) {
      if (pending.length === 0) queueMicrotask(flush);
      pending.push(`${toJsonLine(line)}\n`);
    },
    get fault() {
      return fault;
    },
    close() {
      flush();
      shut();
    },
  };
}

/** The file contains JSON lines only; a plain line is wrapped in the shape of the service's own loggers. */
function toJsonLine({ at, stream, text }: LogLine): string {
  if (text.startsWith('{') && text.endsWith('}')) return text;
  return JSON.stringify({ level: stream === 'stderr' ? 'error' : 'info', time: at, stream, msg: text });
}

/** How much of the file's end is read: enough to fill a ring with ordinary lines. */
const tailBytes = 512 * 1024;

/** The last lines of a child's log file, written before this process started; empty without a file. */
export function readLogTail(file: string): LogLine[] {
  const lines = readTail(file).split('\n').filter(Boolean);
  return lines.slice(-logLimits.lines).map(toLogLine);
}

function readTail(file: string): string {
  let fd: number;
  try {
    fd = openSync(file, 'r');
  } catch {
    return ''; // missing or unreadable: there is nothing to show
  }
  try {
    const { size } = fstatSync(fd);
    const from = Math.max(0, size - tailBytes);
    const bytes = Buffer.alloc(size - from);
    const text = bytes.toString('utf8', 0, readSync(fd, bytes, 0, bytes.length, from));
    // If the beginning of the file was left out, the first line is incomplete.
    return from === 0 ? text : text.slice(text.indexOf('\n') + 1);
  } finally {
    closeSync(fd);
  }
}

/** Unwraps the lines that were wrapped because they were no JSON. The others are as the child wrote them. */
function toLogLine(text: string): LogLine {
  try {
    const { time, stream, msg } = JSON.parse(text) as { time?: unknown; stream?: unknown; msg?: unknown };
    const at = typeof time === 'number' ? time : 0;
    if ((stream === 'stdout' || stream === 'stderr') && typeof msg === 'string') return { at, stream, text: msg };
    return { at, stream: 'stdout', text };
  } catch {
    return { at: 0, stream: 'stdout', text }; // a line that a full disk has truncated
  }
}
