import { ServiceError } from '@svc/service-kit/service-error.ts';
import { toAttempt } from '../retry.ts';

/**
 * Why a write to a platform failed: the platform accepted nothing and demands a `pause`; the message is `gone`; the write is `refused` for
 * good; or its outcome is `unknown` (no answer, a broken connection, an error of the platform).
 */
export type WriteFault = 'pause' | 'gone' | 'refused' | 'unknown';

export function faultOf(error: unknown): WriteFault {
  if (!(error instanceof ServiceError)) return 'unknown';
  if (error.code === 'busy' || error.code === 'queue_full') return 'pause';
  if (error.code === 'not_found') return 'gone';
  const tried = toAttempt({ status: 'rejected', reason: error });
  return !tried.ok && !tried.again ? 'refused' : 'unknown';
}

/** Longer pauses are cut to this, whatever the platform demands. */
const longestPauseMs = 60 * 60_000;

/** How long the platform wants no requests, ms, at most an hour; null when it did not say. */
export function pauseMsOf(error: unknown): number | null {
  const seconds = error instanceof ServiceError ? error.details['retry_after_s'] : undefined;
  return typeof seconds === 'number' && seconds >= 0 ? Math.min(Math.ceil(seconds * 1000), longestPauseMs) : null;
}
