import { createHash } from 'node:crypto';
import type { Said, TranscriptEngine } from './transcript-line.ts';

/**
 * The id of an event that was read in a transcript: of the engine's own names, so that every reader gives it the same one,
 * and it counts once. A name of the time only (`…@time`) says nothing outside of its session.
 */
export function saidId(engine: TranscriptEngine, engineSessionId: string | null, { part, kind }: SaidName): string {
  const scope = part.includes('@') ? `${engine}:${engineSessionId}` : engine;
  return `tx_${createHash('sha256').update(`${scope}\0${kind}\0${part}`).digest('base64url').slice(0, 27)}`;
}

type SaidName = { part: string; kind: Said['kind'] | 'token-usage' };
