/** Time as a dependency, so that tests own it. `now` is epoch ms; timers never keep a process alive by themselves. */
export type Clock = {
  now(): number;
  /** Whole milliseconds since no moment in particular, which only go forward: for how long ago something was, whatever the time of day is set to. */
  elapsed(): number;
  /** Runs `fn` once after `ms`; the returned function cancels it. */
  after(ms: number, fn: () => void): () => void;
  /** Runs `fn` every `ms`; the returned function ends it. */
  every(ms: number, fn: () => void): () => void;
};

/**
 * Whether a stored time of day is at most `ms` from now. One that lies further ahead is from a clock that was wrong: whatever
 * waits for it would wait for ever.
 */
export const isWithin = (at: number, ms: number, now: number): boolean => Math.abs(now - at) < ms;

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
