import { isRecord, parseJsonOrNull } from '@svc/contract/json-value.ts';
import { readClaudeLine } from './claude-line.ts';
import { readCodexLine } from './codex-line.ts';
import { readGeminiLine } from './gemini-line.ts';
import { type Fields, type LineFacts, type TranscriptEngine } from './transcript-line.ts';

const readers: Record<TranscriptEngine, (line: Fields) => LineFacts> = {
  claude: readClaudeLine,
  codex: readCodexLine,
  gemini: readGeminiLine,
};

/** The facts in a line of an engine's transcript; null for any other text. */
export function readLine(engine: TranscriptEngine, text: string): LineFacts | null {
  const line = parseJsonOrNull(text);
  return isRecord(line) ? readers[engine](line) : null;
}
