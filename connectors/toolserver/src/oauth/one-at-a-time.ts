import { queueFull } from '@svc/service-kit/service-error.ts';

const maxWaiting = 100;

/** Runs one piece of work at a time, in the order in which it came. Rejects with `queue_full` past 100 that wait. */
export function oneAtATime(): <Value>(work: () => Promise<Value>) => Promise<Value> {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  return async (work) => {
    if (waiting >= maxWaiting) throw queueFull('Too many requests wait. Try again in a moment.');
    waiting++;
    const turn = last.then(work).finally(() => waiting--);
    last = turn.catch(() => undefined); // thrown to the caller of this work alone
    return turn;
  };
}
