import { backOffMs } from '@svc/service-kit/backoff.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { errorText, ServiceError } from '@svc/service-kit/service-error.ts';

/** The outcome of one attempt. `retryAfterMs`: the pause that the platform demanded. */
export type Attempt<T> =
  | { ok: true; value: T }
  | { ok: false; error: Error; again: false }
  | { ok: false; error: Error; again: true; retryAfterMs?: number };

export type RetryOptions = {
  clock: Clock;
  /** Limit of all attempts and pauses together, ms. An attempt is passed the remaining time and must respect it. */
  limitMs: number;
  maxTries?: number;
  /** Pause after the first failure when the platform demanded none, ms; it doubles. */
  firstPauseMs?: number;
  signal?: AbortSignal;
  random?: () => number;
};

/** Up to a fifth longer, so that many callers that failed together do not retry together. */
const backOff = { maxMs: 30_000, jitter: [1, 1.2] } as const;

/**
 * Retries until an attempt succeeds or fails for good, or the time is up; returns the last attempt. A pause that the platform demanded is
 * never shortened: when it does not fit into the remaining time, there is no further attempt.
 */
export async function retryWithin<T>(
  { clock, limitMs, maxTries = 5, firstPauseMs = 250, signal, random = Math.random }: RetryOptions,
  attempt: (leftMs: number) => Promise<Attempt<T>>,
): Promise<Attempt<T>> {
  const endAt = clock.elapsed() + limitMs;
  for (let tries = 1; ; tries++) {
    const tried = await attempt(endAt - clock.elapsed());
    if (tried.ok || !tried.again || tries >= maxTries) return tried;
    const pauseMs = tried.retryAfterMs ?? backOffMs({ ...backOff, firstMs: firstPauseMs }, tries, random);
    if (clock.elapsed() + pauseMs >= endAt || !(await pause(clock, pauseMs, signal))) return tried;
  }
}

/** False when it was aborted. */
export function pause(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<boolean> {
  if (signal?.aborted === true) return Promise.resolve(false);
  return new Promise((resolve) => {
    const end = (isWhole: boolean) => {
      cancel();
      signal?.removeEventListener('abort', cut);
      resolve(isWhole);
    };
    const cut = () => end(false);
    const cancel = clock.after(ms, () => end(true));
    signal?.addEventListener('abort', cut, { once: true });
  });
}

/** Errors that a retry cannot resolve. */
const finalCodes = ['bad_request', 'forbidden', 'not_found', 'too_large', 'unprocessable'];

/** Converts an outcome for `retryWithin`, by the error codes of `Outbound.send`. */
export function toAttempt<T>(result: PromiseSettledResult<T>): Attempt<T> {
  if (result.status === 'fulfilled') return { ok: true, value: result.value };
  const error = result.reason instanceof Error ? result.reason : new Error(errorText(result.reason));
  if (!(error instanceof ServiceError)) return { ok: false, again: true, error };
  if (finalCodes.includes(error.code)) return { ok: false, again: false, error };
  const seconds = error.details['retry_after_s'];
  return { ok: false, again: true, error, retryAfterMs: typeof seconds === 'number' ? Math.ceil(seconds * 1000) : undefined };
}
