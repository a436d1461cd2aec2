import type { Clock } from '@svc/service-kit/clock.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';

const hourMs = 3600_000;

/** Counts what an account posts, so that it stays below what GitHub lets it. The returned function throws `busy` past it. */
export function createHourlyBudget(most: number, clock: Pick<Clock, 'elapsed'>): () => void {
  const times: number[] = [];
  return () => {
    const now = clock.elapsed();
    while ((times[0] ?? now) <= now - hourMs) times.shift();
    if (times.length < most) return void times.push(now);
    const retry_after_s = Math.ceil(((times[0] ?? now) + hourMs - now) / 1000);
    throw new ServiceError('busy', `${most} comments were posted within an hour, which is all that GitHub takes.`, {
      details: { retry_after_s, global: true },
    });
  };
}
