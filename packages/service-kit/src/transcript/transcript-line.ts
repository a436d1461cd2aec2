import { isRecord } from '@svc/contract/json-value.ts';

/** The engines whose programs keep transcripts of their sessions, one JSON object a line. */
export const transcriptEngines = ['claude', 'codex', 'gemini'] as const;
export type TranscriptEngine = (typeof transcriptEngines)[number];

/** Something that was said or done, in the words of the collector's events. `part`: its name within the session, for ever the same. */
export type Said = {
  part: string;
  kind: 'inbound' | 'thinking' | 'tool' | 'tool_result' | 'outbound';
  text: string;
  payload?: Record<string, unknown>;
};

/** `cacheWrite1h`: what of `cacheWrite` is kept for an hour. */
export type Tokens = { input: number; output: number; cacheRead?: number; cacheWrite?: number; cacheWrite1h?: number };

/** The facts in one line of a transcript. Times are epoch ms; input tokens are those that came from no cache. */
export type LineFacts = {
  sessionId?: string;
  cwd?: string;
  model?: string;
  /** `given`: chosen for the session, and better than its first words. */
  title?: { text: string; given: boolean };
  at?: number;
  /** Of one answer of the model; lines with the same name are about the same answer. */
  usage?: Tokens & { name: string };
  /** Of the whole session so far. */
  totals?: Tokens;
  /** False for a session that another program started; not every engine says so. */
  isInteractive?: boolean;
  /** Part of another session, which shows it. */
  isPart?: boolean;
  said: Said[];
};

export type Fields = Record<string, unknown>;

export const fieldsOf = (value: unknown): Fields => (isRecord(value) ? value : {});
export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
export const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
export const countOf = (value: unknown): number => (typeof value === 'number' && value >= 0 && value < 1e15 ? value : 0);

export function timeOf(value: unknown): number | undefined {
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return at >= 0 ? at : undefined;
}

/** The texts of a content that is a text or a list of blocks, joined. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  return listOf(content)
    .map((block) => fieldsOf(block)['text'])
    .filter((text) => typeof text === 'string')
    .join('\n');
}

/** Leaves out what is not there, so that facts of before stay. */
export const known = <T extends Record<string, unknown>>(facts: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)) as never; // of the same names

/** The key of a session that is no conversation of the service. */
export const terminalKey = (engine: TranscriptEngine, engineSessionId: string): string => `terminal:${engine}:${engineSessionId}`;

const terminalKeyPattern = new RegExp(`^terminal:(?:${transcriptEngines.join('|')}):[^:]+$`);

export const isTerminalKey = (key: string): boolean => terminalKeyPattern.test(key);
