import type { Clock } from '@svc/service-kit/clock.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';

/** Settles as `work` does, or rejects when time is up first. What `work` does after that is nobody's business. */
export function within<T>(clock: Pick<Clock, 'after'>, ms: number, work: Promise<T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const cancel = clock.after(ms, () => reject(tooSlow(ms)));
  work.then(resolve, reject).finally(cancel);
  return promise;
}

const tooSlow = (ms: number) =>
  new ServiceError('upstream', `There was no end after ${Math.ceil(ms / 1000)} s.`, { status: 504 });
