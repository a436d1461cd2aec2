import type { LogLine } from './child-spec.ts';

export type Exit = {
  code: number | null;
  signal: string | null;
  /** Why the process could not be started. */
  error: string | null;
  /** Why its parent ended it. */
  endedFor?: string;
};

/**
 * Describes how a process ended, and why if that is known: from its last log entry (`fatal`, or what told it to stop) or,
 * if it ended like a failed program, from its last output on stderr. An `error` in the log is not a cause, because single
 * operations fail in healthy processes too. `at`: the time of the exit.
 */
export function describeExit(
  { code, signal, error, endedFor }: Exit,
  { lines, at, heapMb }: { lines: readonly LogLine[]; at: number; heapMb?: number },
): string {
  if (error !== null) return `could not be started: ${error}`;
  if (endedFor !== undefined) return `was ended by its parent: ${endedFor}`;
  const last = lines.slice(-60).filter((line) => at - line.at <= lastWordsMs);
  if (signal !== null && last.some(({ text }) => isHeapFault(text)))
    return heapMb === undefined ? 'used up its heap' : `used more than ${heapMb} MB of heap`;
  const why = fatalLine(last) ?? (code === 0 || isFromOutside(signal) ? null : failureLine(last));
  if (signal !== null) return `was ended by ${signal}${why === null ? '' : `: ${why}`}`;
  return `ended with exit code ${code}${why === null ? '; the reason is not known' : `: ${why}`}`;
}

/** Earlier output is about something else. */
const lastWordsMs = 10_000;

/** A signal from another process: no log line is its reason. */
const isFromOutside = (signal: string | null) => signal !== null && ['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP'].includes(signal);

/** V8's last output when the heap is exhausted. */
const isHeapFault = (text: string) => /^FATAL ERROR: .*JavaScript heap out of memory/.test(text);

function fatalLine(lines: readonly LogLine[]): string | null {
  const entries = lines.flatMap(({ text }) => parseEntry(text) ?? []);
  const fatal = entries.findLast(({ level }) => level === 'fatal');
  if (fatal !== undefined) return wordsOf(fatal).slice(0, maxWords);
  const stopping = entries.findLast(({ msg, why }) => msg === 'stopping' && typeof why === 'string');
  return stopping === undefined ? null : `it was told to stop (${String(stopping.why).slice(0, maxWords)})`;
}

function wordsOf({ msg, error, err }: Entry): string {
  const cause = error ?? (err as { message?: unknown } | null | undefined)?.message;
  const [said = '', why = ''] = [msg, cause].map((part) => (typeof part === 'string' ? part : ''));
  return said.includes(why) ? said : `${said}: ${why}`;
}

/** Prefers the line of an error. Stacks, also native ones, and Node's closing lines are ignored. */
function failureLine(lines: readonly LogLine[]): string | null {
  const texts = lines.filter(({ stream, text }) => stream === 'stderr' && parseEntry(text) === null && !isNoise(text));
  const error = texts.findLast(({ text }) => /^(Uncaught )?([A-Z]\w*)?(Error|Exception)\b/.test(text));
  return (error ?? texts.at(-1))?.text.replace(/^# /, '').slice(0, maxWords) ?? null;
}

const maxWords = 500;
const nativeStack = /^\s*\d+: 0x|^----- Native stack trace|^#$/;
const isNoise = (text: string) =>
  text.trim() === '' || nativeStack.test(text) || /^\s+at |^Node\.js v\d|^\s*[\]}^]|^\(Use `node --trace/.test(text);

type Entry = { level?: unknown; msg?: unknown; error?: unknown; err?: unknown; why?: unknown };

/** Parses a line of this service's logs; null for any other text. */
function parseEntry(text: string): Entry | null {
  if (!text.startsWith('{')) return null;
  try {
    return JSON.parse(text) as Entry; // JSON that begins with a brace is an object
  } catch {
    return null; // a line that only looks like JSON
  }
}

/** Details about the reason of an exit that are found out afterwards. */
export type ExitNotes = {
  /** Looks for details. Never rejects; without any, the reason stays as it is. */
  lookInto(reason: string): Promise<void>;
  /** The reason, with details if any were found. */
  read(reason: string): string;
};

export function createExitNotes(explain: (reason: string) => Promise<string | null>): ExitNotes {
  let noted: { reason: string; text: string } | null = null;
  return {
    async lookInto(reason) {
      const text = await explain(reason).catch(() => null);
      if (text !== null) noted = { reason, text };
    },
    read: (reason) => (noted?.reason === reason ? noted.text : reason),
  };
}
