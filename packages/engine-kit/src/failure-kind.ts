import type { EngineFailure } from './engine.ts';

/** What went wrong upstream, and what a person can do about it. */
export type FailureKind = Pick<EngineFailure, 'code' | 'retryable'> & { advice: string };

/** Kinds that mean the same whoever the vendor is; logins and endpoints are each engine's own. */
export const commonKinds = {
  rateLimited: {
    code: 'engine_rate_limited',
    retryable: true,
    advice: 'The limit of this account is used up for now. Try later.',
  },
  overloaded: { code: 'engine_overloaded', retryable: true, advice: 'The model service has too much to do. Try again soon.' },
  badModel: { code: 'engine_bad_model', retryable: false, advice: 'Choose another model (SVC_ENGINE_MODEL).' },
  tooLong: {
    code: 'engine_context_too_long',
    retryable: false,
    advice: 'Begin a new conversation with "/new", or send less at once.',
  },
  other: { code: 'engine_failed', retryable: false, advice: '' },
} as const satisfies Record<string, FailureKind>;

/** A failure of a kind: the upstream's words, then what can be done, and when a limit ends (ms from now) where that is known. */
export function failureOf(
  { code, retryable, advice }: FailureKind,
  words: string,
  retryAfterMs: number | null = null,
): EngineFailure {
  const isLimit = code === 'engine_rate_limited' && retryAfterMs !== null;
  return {
    code,
    retryable,
    message: [sentence(words), isLimit ? `The limit of this account ends in ${inWords(retryAfterMs)}.` : advice]
      .filter(Boolean)
      .join(' '),
    ...(isLimit && { retryAfterMs }),
  };
}

/** The upstream's own words, when a text carries its JSON body. */
export function innerMessage(text: string): string | null {
  const inner = /"message"\s*:\s*"((?:[^"\\]|\\.)*)"/.exec(text)?.[1];
  return inner === undefined ? null : inner.replaceAll('\\"', '"');
}

/** A time span as people say it. */
export function inWords(ms: number): string {
  const minutes = Math.ceil(ms / 60_000);
  if (minutes < 2) return `${Math.max(1, Math.ceil(ms / 1000))} s`;
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}

function sentence(words: string): string {
  const text = words.trim() || 'The turn failed without a reason.';
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
