import type { LogLine } from './child-spec.ts';

export type Exit = {
  code: number | null;
  signal: string | null;
  /** Why there never was a process. */
  error: string | null;
};

/** How a process ended, with the line of its log that most likely says why. */
export function describeExit({ code, signal, error }: Exit, lines: readonly LogLine[], heapMb?: number): string {
  if (error !== null) return `could not be started: ${error}`;
  if (signal !== null && lines.some(({ text }) => isHeapFault(text)))
    return heapMb === undefined ? 'used up its heap' : `used more than ${heapMb} MB of heap`;
  const how = signal !== null ? `was ended by ${signal}` : `ended with exit code ${code}`;
  const why = tellingLine(lines);
  return why === null ? how : `${how}: ${why}`;
}

/** What V8 writes before it ends a process. */
const isHeapFault = (text: string) => /^FATAL ERROR: .*JavaScript heap out of memory/.test(text);

/** An error's own line before anything else; a stack below it and the closing words of Node say nothing. */
function tellingLine(lines: readonly LogLine[]): string | null {
  const last = lines
    .slice(-30)
    .map((line) => messageOf(line.text))
    .filter((text) => !isNoise(text));
  const error = last.findLast((text) => /^(Uncaught )?[A-Z]\w*(Error|Exception)\b/.test(text));
  const telling = error ?? last.at(-1);
  return telling === undefined ? null : telling.slice(0, 500);
}

const isNoise = (text: string) => text.trim() === '' || /^\s+at |^Node\.js v\d|^\s*[\]}^]|^\(Use `node --trace/.test(text);

/** Levels of lines that are not why a process ended. */
const harmless: readonly unknown[] = ['trace', 'debug', 'info', 'warn'];

function messageOf(text: string): string {
  if (!text.startsWith('{')) return text;
  try {
    const { level, msg, error } = JSON.parse(text) as { level?: unknown; msg?: unknown; error?: unknown };
    if (harmless.includes(level)) return '';
    const said = [msg, error].filter((part) => typeof part === 'string' && part !== '');
    return said.length === 0 ? text : said.join(': ');
  } catch {
    return text; // a line that only looks like JSON
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
