import { pino, type Logger } from 'pino';
import { createLineSink, type LineSink } from './line-sink.ts';

export type Log = Logger;
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** JSON lines on stdout; the supervisor keeps them (`svc logs`). Long strings are cut. */
export const createLog = (service: string, level: LogLevel): Log =>
  pino(
    {
      level,
      base: { service },
      timestamp: () => `,"time":${Date.now()}`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: {
        err: toLogged,
      },
    },
    openStdout(),
  );

// pino's own writer tries for ever to write its last lines to a reader that is gone, and so outlives its parent.
let stdout: LineSink | null = null;

let mask = (line: string): string => line;

/** From now on every line is masked by `masks`. A line that cannot be masked is replaced by one that reports this. */
export function maskLogLines(masks: (line: string) => string): void {
  mask = masks;
}

const withheld = '{"level":"error","msg":"a line of the log could not be masked and was left out"}\n';

function masked(line: string): string {
  try {
    return mask(line);
  } catch {
    return withheld;
  }
}

function openStdout(): LineSink {
  if (stdout !== null) return stdout;
  const sink = createLineSink(1);
  process.once('exit', () => sink.flushSync());
  return (stdout = { write: (line) => sink.write(masked(line)), flushSync: () => sink.flushSync() });
}

/** Makes any thrown value loggable. */
const toLogged = (error: unknown): object =>
  error instanceof Error
    ? { type: error.name, message: cut(error.message, 2000), stack: cut(error.stack ?? '', 8000) }
    : { type: typeof error, message: cut(String(error), 2000) };

/** Masked before it is cut, because half of a secret would not be recognized. */
const cut = (text: string, max: number): string => (text.length <= max ? text : masked(text).slice(0, max));
