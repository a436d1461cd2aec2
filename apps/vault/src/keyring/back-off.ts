import { backOffMs } from '@svc/service-kit/backoff.ts';

/** No passphrase is tried for this long after so many wrong ones in a row. */
const backOff = { firstMs: 1000, maxMs: 60_000 };

/** How long to wait yet, ms. A clock that was set back does not make it longer. */
export function waitMs(failures: number, failedAt: number, now: number): number {
  const pause = backOffMs(backOff, failures);
  return Math.min(pause, Math.max(0, failedAt + pause - now));
}
