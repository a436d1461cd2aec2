import { backOffMs } from '@svc/service-kit/backoff.ts';
import type { Clock } from '@svc/service-kit/clock.ts';

/** A failure within this time (ms) delayed nobody, so the server is tried again at once. */
const quickMs = 6000;
const cooldowns = { firstMs: 60_000, maxMs: 30 * 60_000 };

/** Leaves out tool servers that delayed a turn and did not start, longer after each failure, so that not every turn waits for them. */
export function createCircuitBreaker(clock: Pick<Clock, 'elapsed'>) {
  const coolingDown = new Map<string, { until: number; failures: number }>();
  return {
    /** Why the server is left out now, or null. */
    reason(name: string): string | null {
      const cooldown = coolingDown.get(name);
      if (cooldown === undefined || clock.elapsed() >= cooldown.until) return null;
      const seconds = Math.ceil((cooldown.until - clock.elapsed()) / 1000);
      return `it did not start in time; it is tried again in ${seconds} s, or when it is switched off and on`;
    },
    /** The server was found missing `afterMs` after its turn had begun. */
    missed(name: string, afterMs: number): void {
      if (afterMs < quickMs) return;
      const last = coolingDown.get(name);
      const isAgain = last !== undefined && clock.elapsed() < last.until + cooldowns.maxMs;
      const failures = isAgain ? last.failures + 1 : 1;
      coolingDown.set(name, { until: clock.elapsed() + backOffMs(cooldowns, failures), failures });
    },
    forget: (name: string): void => void coolingDown.delete(name),
  };
}
