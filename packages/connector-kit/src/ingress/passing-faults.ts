import type { ErrorCode } from '@svc/contract/error-body.ts';
import { backOffMs } from '@svc/service-kit/backoff.ts';
import { errorText, ServiceError } from '@svc/service-kit/service-error.ts';

/** Errors that may pass: a later attempt can succeed. */
const passingCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['busy', 'queue_full', 'unavailable']);

export const isPassing = (error: unknown): boolean => error instanceof ServiceError && passingCodes.has(error.code);

const backOff = { firstMs: 250, maxMs: 30_000, jitter: [1, 1.2] } as const;

/** The pause after this many attempts, ms: the requested one, within limits. */
export function pauseMs(error: unknown, tries: number): number {
  const seconds = error instanceof ServiceError ? error.details['retry_after_s'] : undefined;
  const asked = typeof seconds === 'number' && seconds > 0 ? Math.ceil(seconds * 1000) : 0;
  return Math.max(Math.min(asked, backOff.maxMs), backOffMs(backOff, tries));
}

export const toFault = (error: unknown): ServiceError =>
  error instanceof ServiceError ? error : new ServiceError('internal', errorText(error), { cause: error });
