import { parseJsonOrNull } from '@svc/contract/json-value.ts';
import { cutText } from '@svc/service-kit/cut-text.ts';
import type { LineFacts, Tokens, TranscriptEngine } from '@svc/service-kit/transcript/transcript-line.ts';

/** A row of the table `transcript`. Times are epoch ms, sizes bytes; flags are 0 and 1. */
export type TranscriptRow = {
  file: string;
  engine: TranscriptEngine;
  engine_session_id: string | null;
  /** The session to which it belongs; null for one that is not shown. */
  conversation_key: string | null;
  /** The session is one of the core. */
  is_core: number;
  cwd: string | null;
  model: string | null;
  title: string | null;
  is_title_given: number;
  /** 0: not known yet. */
  started_at: number;
  last_at: number;
  /** Distinguishes the file from a later one with the same name. */
  file_id: string;
  size: number;
  /** When the file was written last. */
  changed_at: number;
  /** A mark of the text before `read_to`. */
  mark: string | null;
  /** The position up to which it has been read. */
  read_to: number;
  is_skipping: number;
  /** It was read from its start, so sums cover all of it. */
  is_whole: number;
  input_tokens: number | null;
  output_tokens: number | null;
  cache_read_tokens: number | null;
  cache_write_tokens: number | null;
  /** What of these is kept for an hour. */
  cache_write_1h_tokens: number | null;
  /** The answer whose tokens were counted last, and how many, as JSON. */
  last_usage: string | null;
  /** The last message was not an answer. */
  is_busy: number;
  is_part: number;
  /** 0: written by a program that answers once and ends, or that another program runs; null: unknown. */
  is_interactive: number | null;
};

type New = Pick<TranscriptRow, 'file' | 'engine' | 'engine_session_id' | 'cwd' | 'is_whole' | 'file_id'>;

export const newTranscript = (row: New): TranscriptRow => ({
  conversation_key: null,
  is_core: 0,
  model: null,
  title: null,
  is_title_given: 0,
  started_at: 0,
  last_at: 0,
  size: 0,
  changed_at: 0,
  mark: null,
  read_to: 0,
  is_skipping: 0,
  input_tokens: null,
  output_tokens: null,
  cache_read_tokens: null,
  cache_write_tokens: null,
  cache_write_1h_tokens: null,
  last_usage: null,
  is_busy: 0,
  is_part: 0,
  is_interactive: null,
  ...row,
});

const maxTitle = 120;
const maxName = 1024;

/** Adds the facts of a line. The first named folder stays. */
export function addLine(row: TranscriptRow, facts: LineFacts): void {
  row.engine_session_id ??= nameOf(facts.sessionId);
  row.cwd ??= nameOf(facts.cwd);
  row.model = nameOf(facts.model) ?? row.model;
  if (facts.isPart === true) row.is_part = 1;
  if (facts.isInteractive !== undefined) row.is_interactive = facts.isInteractive ? 1 : 0;
  if (facts.at !== undefined) {
    row.started_at = row.started_at === 0 ? facts.at : Math.min(row.started_at, facts.at);
    row.last_at = Math.max(row.last_at, facts.at);
  }
  for (const { kind } of facts.said) row.is_busy = kind === 'outbound' ? 0 : 1;
  addTitle(row, facts);
  addTokens(row, facts);
}

const nameOf = (text: string | undefined): string | null => (text === undefined || text.length > maxName ? null : text);

/** True for a line whose title would become that of the session. */
export const isTitled = ({ title: known }: TranscriptRow, { title }: LineFacts): boolean =>
  title !== undefined && (title.given || known === null);

function addTitle(row: TranscriptRow, facts: LineFacts): void {
  const { title } = facts;
  if (title === undefined || !isTitled(row, facts)) return;
  const text = cutText(title.text.replaceAll(/\s+/g, ' ').trim(), maxTitle);
  if (text !== '') Object.assign(row, { title: text, is_title_given: title.given ? 1 : 0 });
}

const counts = [
  ['input_tokens', 'input'],
  ['output_tokens', 'output'],
  ['cache_read_tokens', 'cacheRead'],
  ['cache_write_tokens', 'cacheWrite'],
  ['cache_write_1h_tokens', 'cacheWrite1h'],
] as const;

/**
 * Tokens of answers are summed up if the whole file was read; otherwise only the engine's own totals are used. An answer has a
 * line for each of its parts, and the last line has the usage of the whole answer.
 */
function addTokens(row: TranscriptRow, { usage, totals }: LineFacts): void {
  if (usage !== undefined && row.is_whole === 1) {
    const { name, ...tokens } = usage;
    const before = row.last_usage === name ? tokens : countedBefore(row, name);
    for (const [field, count] of counts) row[field] = (row[field] ?? 0) + (tokens[count] ?? 0) - (before[count] ?? 0);
    row.last_usage = JSON.stringify({ name, tokens });
  } else if (totals !== undefined && row.last_usage === null) {
    for (const [field, count] of counts) row[field] = totals[count] ?? 0;
  }
}

/** The tokens that earlier lines of the same answer have already added. Earlier versions counted only the first line, and stored only the answer's name. */
function countedBefore({ last_usage }: TranscriptRow, name: string): Partial<Tokens> {
  const last = parseJsonOrNull(last_usage ?? '') as { name?: unknown; tokens?: Partial<Tokens> } | null;
  return last?.name === name ? (last.tokens ?? {}) : {};
}
