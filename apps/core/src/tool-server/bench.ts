import { backOffMs } from '@svc/service-kit/backoff.ts';
import type { Clock } from '@svc/service-kit/clock.ts';

/** A server that was missing within this time had been away or broken: it has held nobody up and is tried again at once, in ms. */
const quickMs = 6000;
const rests = { firstMs: 60_000, maxMs: 30 * 60_000 };

/**
 * Tool servers that held up a turn and did not come: they are left out for a while, longer each time, so that not every
 * turn waits for them.
 */
export function createBench(clock: Pick<Clock, 'elapsed'>) {
  const resting = new Map<string, { until: number; failures: number }>();
  return {
    /** Why the server is left out now, or null. */
    reason(name: string): string | null {
      const rest = resting.get(name);
      if (rest === undefined || clock.elapsed() >= rest.until) return null;
      const seconds = Math.ceil((rest.until - clock.elapsed()) / 1000);
      return `it did not come up in time; it is tried again in ${seconds} s, or when it is switched off and on`;
    },
    /** The server was missing in a turn, `afterMs` after the turn had begun. */
    missed(name: string, afterMs: number): void {
      if (afterMs < quickMs) return;
      const last = resting.get(name);
      const isAgain = last !== undefined && clock.elapsed() < last.until + rests.maxMs;
      const failures = isAgain ? last.failures + 1 : 1;
      resting.set(name, { until: clock.elapsed() + backOffMs(rests, failures), failures });
    },
    forget: (name: string): void => void resting.delete(name),
  };
}
