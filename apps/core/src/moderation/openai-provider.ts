import { createHash } from 'node:crypto';
import type { Clock } from '@svc/service-kit/clock.ts';
import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';
import type { Secret } from '@svc/service-kit/secret.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { askModerations, ModerationFailure, type Endpoint } from './ask-moderations.ts';
import type { Asked, ModerationProvider } from './moderation.ts';

export type OpenAiOptions = {
  baseUrl: string;
  model: string;
  /** The key; null where the endpoint needs none. Rejects when it cannot be found. */
  keyOf: () => Promise<Secret | null>;
  clock: Clock;
  timeoutMs?: number;
};

/** The longest input; a longer text is checked in overlapping pieces, so that nothing is hidden by a cut. */
const pieceChars = 20_000;
const overlapChars = 500;
const inputsPerCall = 32;
const rememberMs = 5 * 60_000;
const remembered = 5000;
/** The pause after a failure; otherwise every turn would wait for the endpoint. */
const pauseMs = 5000;
const longestPauseMs = 60_000;

/** Moderation by an endpoint compatible with OpenAI's `/moderations`. Verdicts are cached for some minutes. */
export function createOpenAiProvider({ baseUrl, model, keyOf, clock, timeoutMs = 5000 }: OpenAiOptions): ModerationProvider {
  const url = new URL(`${baseUrl.replace(/\/+$/, '')}/moderations`);
  const known = createMemory(clock);
  let failed: { why: string; until: number } | null = null;

  const ask = async (inputs: readonly string[], { signal, onUsage }: Asked): Promise<void> => {
    const endpoint: Endpoint = { url, model, key: await keyOf() };
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    for (let from = 0; from < inputs.length; from += inputsPerCall) {
      const batch = inputs.slice(from, from + inputsPerCall);
      const flags = await twice(() => askModerations(endpoint, batch, bounded), bounded);
      for (const [index, input] of batch.entries()) known.set(input, flags[index] === true);
      onUsage({ model, chars: batch.reduce((sum, input) => sum + input.length, 0), isPaid: endpoint.key !== null });
    }
  };

  const fail = (error: unknown): ModerationFailure => {
    const isSlow = (error as Error | null)?.name === 'TimeoutError';
    const why = isSlow ? `the moderation endpoint did not answer for ${timeoutMs / 1000} s` : errorText(error);
    const pause = Math.min((error instanceof ModerationFailure ? error.retryAfterMs : null) ?? pauseMs, longestPauseMs);
    failed = { why, until: clock.elapsed() + pause };
    return new ModerationFailure(why);
  };

  return {
    async flagged(texts, asked) {
      const pieces = texts.map(toPieces);
      const unknown = [...new Set(pieces.flat())].filter((piece) => known.get(piece) === undefined);
      const answers = new Map(pieces.flat().map((piece) => [piece, known.get(piece)]));
      if (unknown.length > 0) {
        if (failed !== null && clock.elapsed() < failed.until) throw new ModerationFailure(failed.why);
        try {
          await ask(unknown, asked);
        } catch (error) {
          if (asked.signal.aborted) throw error; // the turn was ended, which says nothing about the endpoint
          throw fail(error);
        }
        failed = null;
        for (const piece of unknown) answers.set(piece, known.get(piece));
      }
      // A verdict that has left the cache meanwhile counts as flagged.
      return pieces.map((some) => some.some((piece) => answers.get(piece) !== false));
    },
    fault: () => failed?.why ?? null,
  };
}

/** Retries once after a broken connection or a server error. An abort ends it with the signal's reason. */
async function twice<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let isLast = false; ; isLast = true) {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      const isRefusal = error instanceof ModerationFailure && (error.status === null || error.status < 500);
      if (isLast || isRefusal) throw error;
    }
  }
}

/** A blank text has no pieces: there is nothing to check. */
function toPieces(text: string): string[] {
  if (text.trim() === '') return [];
  const pieces = [];
  for (let from = 0; from === 0 || from + overlapChars < text.length; from += pieceChars - overlapChars) {
    pieces.push(text.slice(from, from + pieceChars).toWellFormed());
  }
  return pieces;
}

/** A cache by digest, so that no text is stored. The oldest entry goes when it is full. */
function createMemory(clock: Clock) {
  const entries = new Map<string, { flagged: boolean; until: number }>();
  const keyOf = (text: string) => createHash('sha256').update(text).digest('base64');
  return {
    get(text: string): boolean | undefined {
      const entry = entries.get(keyOf(text));
      return entry === undefined || entry.until <= clock.elapsed() ? undefined : entry.flagged;
    },
    set(text: string, flagged: boolean): void {
      const key = keyOf(text);
      entries.delete(key);
      entries.set(key, { flagged, until: clock.elapsed() + rememberMs });
      forgetOldest(entries, remembered);
    },
  };
}
