import type { EngineFailure } from '@svc/engine-kit/engine.ts';
import { commonKinds, type FailureKind } from '@svc/engine-kit/failure-kind.ts';
import type { Refusal } from './refusal.ts';

const kinds = {
  ...commonKinds,
  auth: { code: 'engine_auth_failed', retryable: false, advice: 'Check the key in GEMINI_API_KEY.' },
  down: { code: 'engine_endpoint_down', retryable: true, advice: 'Check that the model endpoint can be reached.' },
  broken: { ...commonKinds.other, retryable: true },
} as const satisfies Record<string, FailureKind>;

const byStatus: Record<number, FailureKind> = {
  0: kinds.down,
  401: kinds.auth,
  403: kinds.auth,
  404: kinds.badModel,
  429: kinds.rateLimited,
  500: kinds.broken,
  502: kinds.down,
  503: kinds.overloaded,
  504: kinds.down,
};

/** A failed turn in our codes: what the model service answered decides, else the program's own words are all there is. */
export function toFailure(refusal: Refusal | null, words: string): EngineFailure {
  if (refusal === null) return describe(kinds.other, words);
  const isKey = refusal.reason?.startsWith('API_KEY') === true || /api key/i.test(refusal.message);
  const kind = refusal.status === 400 && isKey ? kinds.auth : (byStatus[refusal.status] ?? kinds.other);
  const { retryAfterMs } = refusal;
  return { ...describe(kind, refusal.message), ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

/** No key is there, and none is asked for anywhere. */
export const noKey: EngineFailure = {
  code: 'engine_not_logged_in',
  message: 'Gemini has no API key. Set GEMINI_API_KEY to one from Google AI Studio, and start the service again.',
  retryable: false,
};

const describe = ({ code, retryable, advice }: FailureKind, words: string): EngineFailure => ({
  code,
  retryable,
  message: [sentence(words), advice].filter(Boolean).join(' '),
});

/** The program puts its own errors in brackets. */
function sentence(words: string): string {
  const text = (/^\[API Error: ([\s\S]*)\]$/.exec(words.trim())?.[1] ?? words).trim() || 'The turn failed without a reason.';
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
