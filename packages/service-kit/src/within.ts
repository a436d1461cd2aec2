import type { Clock } from './clock.ts';

/** These keep the process alive while it waits, other than those of a clock. */
const ownTimers: Pick<Clock, 'after'> = {
  after(ms, fn) {
    const timer = setTimeout(fn, ms);
    return () => clearTimeout(timer);
  },
};

/** True when the work ends within `ms`. Rejects when it does so in time. */
export const within = (work: Promise<unknown>, ms: number, clock = ownTimers): Promise<boolean> =>
  inTime(
    work.then(() => true),
    ms,
    () => false,
    clock,
  );

/** Settles as the work does, or as `late` says once `ms` are over. What the work does after that is nobody's business. */
export async function inTime<T, Late>(work: Promise<T>, ms: number, late: () => Late, clock = ownTimers): Promise<T | Late> {
  const overdue = Promise.withResolvers<void>();
  const cancel = clock.after(ms, overdue.resolve);
  try {
    return await Promise.race([work, overdue.promise.then(late)]);
  } finally {
    cancel();
  }
}
