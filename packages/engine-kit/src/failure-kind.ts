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
  other: { code: 'engine_failed', retryable: false, advice: '' },
} as const satisfies Record<string, FailureKind>;
