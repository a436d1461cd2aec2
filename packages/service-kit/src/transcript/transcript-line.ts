import { isRecord } from '@svc/contract/json-value.ts';

/** The engines whose programs keep transcripts of their sessions, one JSON object a line. */
export const transcriptEngines = ['claude', 'codex', 'gemini'] as const;
export type TranscriptEngine = (typeof transcriptEngines)[number];

/** Something that was said or done, in the terms of the collector's events. `part`: its stable name within the session. */
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
  /** `given`: true for a title that was chosen, which is better than the first words of the session. */
  title?: { text: string; given: boolean };
  at?: number;
  /** The tokens of one answer of the model; lines with the same name are about the same answer. */
  usage?: Tokens & { name: string };
  /** The tokens of the whole session so far. */
  totals?: Tokens;
  /** False for a session that another program started; not every engine records that. */
  isInteractive?: boolean;
  /** True for a part of another session, which shows it. */
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

/** The joined texts of a content, which is a text or a list of blocks. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  return listOf(content)
    .map((block) => fieldsOf(block)['text'])
    .filter((text) => typeof text === 'string')
    .join('\n');
}

/** Drops undefined fields, so that earlier facts are kept. */
export const known = <T extends Record<string, unknown>>(facts: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)) as never; // with the same keys

/** The conversation key of a session outside of the service. */
export const terminalKey = (engine: TranscriptEngine, engineSessionId: string): string => `terminal:${engine}:${engineSessionId}`;

const terminalKeyPattern = new RegExp(`^terminal:(?:${transcriptEngines.join('|')}):[^:]+$`);

export const isTerminalKey = (key: string): boolean => terminalKeyPattern.test(key);
