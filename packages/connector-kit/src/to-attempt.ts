import { errorText, ServiceError } from '@svc/service-kit/service-error.ts';
import type { Attempt } from './retry.ts';

/** What cannot become better by trying again. */
const finalCodes = ['bad_request', 'forbidden', 'not_found', 'too_large', 'unprocessable'];

/** How a piece of work ended, for `retryWithin`: in the words that `Outbound.send` uses. */
export function toAttempt<T>(result: PromiseSettledResult<T>): Attempt<T> {
  if (result.status === 'fulfilled') return { ok: true, value: result.value };
  const error = result.reason instanceof Error ? result.reason : new Error(errorText(result.reason));
  if (!(error instanceof ServiceError)) return { ok: false, again: true, error };
  if (finalCodes.includes(error.code)) return { ok: false, again: false, error };
  const seconds = error.details['retry_after_s'];
  return { ok: false, again: true, error, retryAfterMs: typeof seconds === 'number' ? Math.ceil(seconds * 1000) : undefined };
}
