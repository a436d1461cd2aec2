import { stripVTControlCharacters } from 'node:util';
import { cutText } from '@svc/service-kit/cut-text.ts';
import { roundedDuration } from '@svc/service-kit/words.ts';
import type { EngineFailure } from './engine.ts';

/** What went wrong upstream, and what a person can do about it. */
export type FailureKind = Pick<EngineFailure, 'code' | 'retryable'> & { advice: string };

/** Kinds that mean the same for every vendor; logins and endpoints are each engine's own. */
export const commonKinds = {
  rateLimited: {
    code: 'engine_rate_limited',
    retryable: true,
    advice: 'The usage limit of this account is reached. Try again later.',
  },
  overloaded: { code: 'engine_overloaded', retryable: true, advice: 'The model service is overloaded. Try again soon.' },
  badModel: { code: 'engine_bad_model', retryable: false, advice: 'Choose another model, for example with SVC_ENGINE_MODEL.' },
  tooLong: {
    code: 'engine_context_too_long',
    retryable: false,
    advice: 'Start a new conversation with "/new", or send a shorter message.',
  },
  /** The model service broke off, or failed on its own side. */
  broken: { code: 'engine_endpoint_down', retryable: true, advice: 'Try again. If it keeps failing, check the model endpoint.' },
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
    message: [sentence(words), isLimit ? limitEnds(retryAfterMs) : advice].filter(Boolean).join(' '),
    ...(isLimit && { retryAfterMs }),
  };
}

/** The failure of a limit, whose end was learned only now. */
export const endingIn = (failure: EngineFailure, ms: number): EngineFailure => ({
  ...failure,
  message: failure.message.replace(commonKinds.rateLimited.advice, limitEnds(ms)),
  retryAfterMs: ms,
});

const limitEnds = (ms: number): string => `The usage limit of this account is reached. Try again in ${roundedDuration(ms)}.`;

/** The upstream's own words, when a text carries its JSON body. */
export function innerMessage(text: string): string | null {
  const inner = /"message"\s*:\s*"((?:[^"\\]|\\.)*)"/.exec(text)?.[1];
  return inner === undefined ? null : inner.replaceAll('\\"', '"');
}

/** What a vendor's program writes for its own terminal and its own developers says nothing to a person in a chat. */
const noise = [
  /\[ede_diagnostic\][^\n]*/g,
  /^YOLO mode is enabled\.[^\n]*$/gm,
  /\s*[·-]?\s*Please run \/login\b\.?/g,
  /\bAPI Error: (?=\S)/g,
];

const maxWords = 500;

/** The words of a program for a person: no colours, no diagnostics, no commands of the vendor's own terminal. */
export function plainWords(words: string): string {
  const text = noise.reduce((rest, sign) => rest.replace(sign, ''), stripVTControlCharacters(words));
  return cutText(text.replace(/\s+/g, ' ').trim(), maxWords);
}

function sentence(words: string): string {
  const text = plainWords(words) || 'The turn failed, and the engine gave no reason.';
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
