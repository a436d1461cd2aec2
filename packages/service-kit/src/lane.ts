import { queueFull } from './service-error.ts';

/** Runs work when a place is free. */
export type Lane = <T>(work: () => Promise<T>) => Promise<T>;

/** How many works may run and wait in all, and the message of the refusal above that. */
export type LaneLimit = { most: number; full: string };

/** For callers that limit the works themselves. */
const unlimited: LaneLimit = { most: Infinity, full: '' };

/**
 * Runs up to `atOnce` works in parallel, the others in order of arrival; with 1, one after the other. A failed work does not affect the next.
 * @throws ServiceError `queue_full` above the limit.
 */
export function createLane(atOnce: number, { most, full } = unlimited): Lane {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running + waiting.length >= most) throw queueFull(full);
    if (running < atOnce) running++;
    else await new Promise<void>((resolve) => void waiting.push(resolve)); // the finished work passes its place on
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  };
}
