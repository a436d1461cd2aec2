import { stripVTControlCharacters } from 'node:util';
import { cutText } from '@svc/service-kit/cut-text.ts';
import { roundedDuration } from '@svc/service-kit/words.ts';
import type { EngineFailure } from './engine.ts';

/** What went wrong at the model service, and what a person can do about it. */
export type FailureKind = Pick<EngineFailure, 'code' | 'retryable'> & { advice: string };

/** Kinds that are the same for every vendor; each engine adds its own for logins and endpoints. */
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
  /** The model service closed the connection, or failed internally. */
  broken: { code: 'engine_endpoint_down', retryable: true, advice: 'Try again. If it keeps failing, check the model endpoint.' },
  other: { code: 'engine_failed', retryable: false, advice: '' },
} as const satisfies Record<string, FailureKind>;

/**
 * A failure of this kind: the message of the model service, then the advice, or when a limit ends (ms from now) if that is
 * known.
 */
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

/** The failure of a limit, completed with its end. */
export const endingIn = (failure: EngineFailure, ms: number): EngineFailure => ({
  ...failure,
  message: failure.message.replace(commonKinds.rateLimited.advice, limitEnds(ms)),
  retryAfterMs: ms,
});

const limitEnds = (ms: number): string => `The usage limit of this account is reached. Try again in ${roundedDuration(ms)}.`;

/** The model service's own message, if a text contains its JSON response. */
export function innerMessage(text: string): string | null {
  const inner = /"message"\s*:\s*"((?:[^"\\]|\\.)*)"/.exec(text)?.[1];
  return inner === undefined ? null : inner.replaceAll('\\"', '"');
}

/** Output of a vendor's program for its terminal or its developers, which means nothing to a person in a chat. */
const noise = [
  /\[ede_diagnostic\][^\n]*/g,
  /^YOLO mode is enabled\.[^\n]*$/gm,
  /\s*[·-]?\s*Please run \/login\b\.?/g,
  /\bAPI Error: (?=\S)/g,
];

const maxWords = 500;

/** A program's message for a person: without colours, diagnostics and commands for the vendor's own terminal. */
export function plainWords(words: string): string {
  const text = noise.reduce((rest, sign) => rest.replace(sign, ''), stripVTControlCharacters(words));
  return cutText(text.replace(/\s+/g, ' ').trim(), maxWords);
}

function sentence(words: string): string {
  const text = plainWords(words) || 'The turn failed, and the engine gave no reason.';
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
