import type { Clock } from './clock.ts';

/** Unlike a clock's timers, these keep the process alive while it waits. */
const ownTimers: Pick<Clock, 'after'> = {
  after(ms, fn) {
    const timer = setTimeout(fn, ms);
    return () => clearTimeout(timer);
  },
};

/** True when the work ends within `ms`. Rejects when the work rejects in time. */
export const within = (work: Promise<unknown>, ms: number, clock = ownTimers): Promise<boolean> =>
  inTime(
    work.then(() => true),
    ms,
    () => false,
    clock,
  );

/** Settles like the work, or with the result of `late` after `ms`. What the work does after that is ignored. */
export async function inTime<T, Late>(work: Promise<T>, ms: number, late: () => Late, clock = ownTimers): Promise<T | Late> {
  const overdue = Promise.withResolvers<void>();
  const cancel = clock.after(ms, overdue.resolve);
  try {
    return await Promise.race([work, overdue.promise.then(late)]);
  } finally {
    cancel();
  }
}
