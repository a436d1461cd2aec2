import type { EngineFailure } from '@svc/engine-kit/engine.ts';
import { commonKinds, failureOf, type FailureKind } from '@svc/engine-kit/failure-kind.ts';
import type { Refusal } from './refusal.ts';

const kinds = {
  ...commonKinds,
  auth: {
    code: 'engine_auth_failed',
    retryable: false,
    advice: 'Check the API key ("./svc engine key gemini", or GEMINI_API_KEY).',
  },
  down: { code: 'engine_endpoint_down', retryable: true, advice: 'Check that the model endpoint can be reached.' },
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

/** A failed turn with our codes, from the model service's response or, without one, from the program's own message. */
export function toFailure(refusal: Refusal | null, words: string): EngineFailure {
  if (refusal === null) return connectionBroke.test(words) ? cutOff : failureOf(kinds.other, plain(words));
  return failureOf(kindOf(refusal), plain(refusal.message), refusal.retryAfterMs);
}

function kindOf({ status, reason, message }: Refusal): FailureKind {
  if (status === 400 && (reason?.startsWith('API_KEY') === true || /api key/i.test(message))) return kinds.auth;
  if (status === 400 && /token count.*exceeds/i.test(message)) return kinds.tooLong;
  return byStatus[status] ?? kinds.other;
}

/** The stream of a reply ended too early, even after a retry. */
export const cutOff: EngineFailure = failureOf(kinds.broken, 'The reply of the model was cut off');

/** The program's message for a reply that ended before its first byte, which it treats as a failed request. */
const connectionBroke = /\bfetch failed\b/;

/** There is no API key. */
export const noKey: EngineFailure = {
  code: 'engine_not_logged_in',
  message: 'Gemini has no API key. Get one from Google AI Studio, then run "./svc engine key gemini" or set GEMINI_API_KEY.',
  retryable: false,
};

/** Removes the brackets that the program puts around its errors. */
const plain = (words: string): string => /^\[API Error: ([\s\S]*)\]$/.exec(words.trim())?.[1] ?? words;
