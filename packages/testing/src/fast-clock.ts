import { systemClock, type Clock } from '@svc/service-kit/clock.ts';

/**
 * A clock that goes so many times faster than the system's. Who keeps a pace and who watches it have to share one: then a test holds minutes of limits in
 * seconds, and nothing is loosened.
 */
export function createFastClock(times: number): Clock {
  const start = systemClock.now();
  const begun = performance.now();
  const elapsed = () => Math.trunc((performance.now() - begun) * times);
  // Rounded up: a timer must not end before its time by this clock.
  const real = (ms: number) => Math.ceil(ms / times);
  return {
    now: () => start + elapsed(),
    elapsed,
    after: (ms, fn) => systemClock.after(real(ms), fn),
    every: (ms, fn) => systemClock.every(real(ms), fn),
  };
}
