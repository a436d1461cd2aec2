import { createHash } from 'node:crypto';
import type { Said, TranscriptEngine } from './transcript-line.ts';

/**
 * The id of an event from a transcript. It is derived from the engine's own ids, so that every reader gets the same one and the
 * event counts once. An id made of a time (`…@time`) is unique within its session only.
 */
export function saidId(engine: TranscriptEngine, engineSessionId: string | null, { part, kind }: SaidName): string {
  const scope = part.includes('@') ? `${engine}:${engineSessionId}` : engine;
  return `tx_${createHash('sha256').update(`${scope}\0${kind}\0${part}`).digest('base64url').slice(0, 27)}`;
}

type SaidName = { part: string; kind: Said['kind'] | 'token-usage' };
