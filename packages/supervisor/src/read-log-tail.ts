import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { LogLine } from './child-spec.ts';
import { logLimits } from './log-ring.ts';

/** Of a file this much is looked at, enough for a ring of usual lines. */
const tailBytes = 512 * 1024;

/** The last lines that a child wrote before this process was there, from its log file; none when there is no file. */
export function readLogTail(file: string): LogLine[] {
  const lines = readTail(file).split('\n').filter(Boolean);
  return lines.slice(-logLimits.lines).map(toLogLine);
}

function readTail(file: string): string {
  let fd: number;
  try {
    fd = openSync(file, 'r');
  } catch {
    return ''; // nothing was ever written, or it cannot be read: either way there is nothing to show
  }
  try {
    const { size } = fstatSync(fd);
    const from = Math.max(0, size - tailBytes);
    const bytes = Buffer.alloc(size - from);
    const text = bytes.toString('utf8', 0, readSync(fd, bytes, 0, bytes.length, from));
    // The first line is a part of one where the beginning of the file was left out.
    return from === 0 ? text : text.slice(text.indexOf('\n') + 1);
  } finally {
    closeSync(fd);
  }
}

/** Lines that were no JSON were wrapped when they were written; the others stand there as the child wrote them. */
function toLogLine(text: string): LogLine {
  try {
    const { time, stream, msg } = JSON.parse(text) as { time?: unknown; stream?: unknown; msg?: unknown };
    const at = typeof time === 'number' ? time : 0;
    if ((stream === 'stdout' || stream === 'stderr') && typeof msg === 'string') return { at, stream, text: msg };
    return { at, stream: 'stdout', text };
  } catch {
    return { at: 0, stream: 'stdout', text }; // a line that a full disk cut off
  }
}
