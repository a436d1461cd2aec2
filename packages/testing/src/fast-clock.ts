import { systemClock, type Clock } from '@svc/service-kit/clock.ts';

/**
 * A clock that runs a number of times faster than the system's. Code that keeps a pace and code that checks it must share it: a test then covers minutes of
 * limits in seconds, without weakening them.
 */
export function createFastClock(times: number): Clock {
  const start = systemClock.now();
  const begun = performance.now();
  const elapsed = () => Math.trunc((performance.now() - begun) * times);
  // Rounded up: a timer must not fire early by this clock.
  const real = (ms: number) => Math.ceil(ms / times);
  return {
    now: () => start + elapsed(),
    elapsed,
    after: (ms, fn) => systemClock.after(real(ms), fn),
    every: (ms, fn) => systemClock.every(real(ms), fn),
  };
}
