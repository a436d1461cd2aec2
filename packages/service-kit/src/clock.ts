/** Time as a dependency, so that tests own it. `now` is epoch ms; timers never keep a process alive by themselves. */
export type Clock = {
  now(): number;
  /** Milliseconds since no moment in particular, which only go forward: for how long ago something was, whatever the time of day is set to. */
  elapsed(): number;
  /** Runs `fn` once after `ms`; the returned function cancels it. */
  after(ms: number, fn: () => void): () => void;
  /** Runs `fn` every `ms`; the returned function ends it. */
  every(ms: number, fn: () => void): () => void;
};

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
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
