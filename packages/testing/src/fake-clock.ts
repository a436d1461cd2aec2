import type { Clock } from '@svc/service-kit/clock.ts';

export type FakeClock = Clock & {
  /** Advances the time and runs the due timers in order. */
  advance(ms: number): void;
  /** Sets the time of day back, as a person or a time server does. `elapsed` and the timers are not affected. */
  setBack(ms: number): void;
};

type Timer = { at: number; every: number | null; fn: () => void };

/** A clock that a test moves. */
export function createFakeClock(start = 1_800_000_000_000): FakeClock {
  let now = start;
  let setBackMs = 0;
  const timers = new Set<Timer>();
  const add = (ms: number, every: number | null, fn: () => void) => {
    const timer = { at: now + ms, every, fn };
    timers.add(timer);
    return () => void timers.delete(timer);
  };
  const due = (until: number) => [...timers].filter((timer) => timer.at <= until).toSorted((a, b) => a.at - b.at)[0];
  return {
    now: () => now - setBackMs,
    elapsed: () => now - start,
    after: (ms, fn) => add(ms, null, fn),
    every: (ms, fn) => add(ms, ms, fn),
    advance(ms) {
      const until = now + ms;
      for (let timer = due(until); timer !== undefined; timer = due(until)) {
        now = timer.at;
        if (timer.every === null) timers.delete(timer);
        else timer.at += timer.every;
        timer.fn();
      }
      now = until;
    },
    setBack(ms) {
      setBackMs += ms;
    },
  };
}
