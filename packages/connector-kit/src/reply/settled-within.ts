import type { Clock } from '@svc/service-kit/clock.ts';

/** Resolves when work has ended that never rejects, or after that time. */
export function settledWithin(clock: Pick<Clock, 'after'>, ms: number, work: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(ms, resolve);
    void work.then(resolve).finally(cancel);
  });
}
