import type { LogLine } from './child-spec.ts';

export type Exit = {
  code: number | null;
  signal: string | null;
  /** Why there never was a process. */
  error: string | null;
  /** Why its parent ended it. */
  endedFor?: string;
};

/**
 * How a process ended, and why as far as it was seen: its own last words (`fatal` in its log, or what told it to stop), else, where it ended as a failed program
 * does, what it wrote to stderr then. An error in the log is no cause: work fails every day in a process that goes on. `at`: of the exit.
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

/** What was written longer before the end is about something else. */
const lastWordsMs = 10_000;

/** A signal that another process sends: no line of a log is its reason. */
const isFromOutside = (signal: string | null) => signal !== null && ['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP'].includes(signal);

/** What V8 writes before it ends a process. */
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

/** An error's own line before anything else; a stack below it, also a native one, and the closing words of Node say nothing. */
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

/** A line of a log of ours; null for any other text. */
function parseEntry(text: string): Entry | null {
  if (!text.startsWith('{')) return null;
  try {
    return JSON.parse(text) as Entry; // a text that begins so is an object
  } catch {
    return null; // a line that only looks like JSON
  }
}

/** What is found out about the reason of an exit after it happened. */
export type ExitNotes = {
  /** Never rejects; what cannot be found out stays as it was said. */
  lookInto(reason: string): Promise<void>;
  /** The reason, with more about it where there is more. */
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
