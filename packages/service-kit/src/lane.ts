import { queueFull } from './service-error.ts';

/** Runs work when there is a place for it. */
export type Lane = <T>(work: () => Promise<T>) => Promise<T>;

/** How many works may run and wait in all, and what one more is refused with. */
export type LaneLimit = { most: number; full: string };

/** For who bounds the works already. */
const unlimited: LaneLimit = { most: Infinity, full: '' };

/**
 * Runs so many works at once, the others in the order they came; with 1 one after the other. A work that fails does not stop the next.
 * @throws ServiceError `queue_full` past the limit.
 */
export function createLane(atOnce: number, { most, full } = unlimited): Lane {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running + waiting.length >= most) throw queueFull(full);
    if (running < atOnce) running++;
    else await new Promise<void>((resolve) => void waiting.push(resolve)); // the place is handed over
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  };
}
