/** Time as a dependency, so that tests can control it. `now` is epoch ms; timers never keep a process alive. */
export type Clock = {
  now(): number;
  /** A monotonic time in whole ms, for durations. It does not change when the time of day is set. */
  elapsed(): number;
  /** Runs `fn` once after `ms`; the returned function cancels it. */
  after(ms: number, fn: () => void): () => void;
  /** Runs `fn` every `ms`; the returned function ends it. */
  every(ms: number, fn: () => void): () => void;
};

/**
 * Whether a stored time of day is less than `ms` away, in the past or the future. A later one comes from a wrong clock, and
 * waiting for it could take for ever.
 */
export const isWithin = (at: number, ms: number, now: number): boolean => Math.abs(now - at) < ms;

/**
 * Whether something that was issued for `lifeMs` has not expired. One that would live longer than that was issued while the clock was
 * ahead, and must not last until then.
 */
export const isLive = (expiresAt: number, lifeMs: number, now: number): boolean => now < expiresAt && expiresAt <= now + lifeMs;

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => Math.trunc(performance.now()),
  after(ms, fn) {
    const timer = setTimeout(fn, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
  every(ms, fn) {
    const timer = setInterval(fn, ms);
    timer.unref();
    return () => clearInterval(timer);
  },
};
