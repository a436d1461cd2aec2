import { queueFull } from './service-error.ts';

/** Runs work of one owner; each owner may have a limited number of works in progress. */
export type AtOnce = <T>(whose: string, work: () => Promise<T>) => Promise<T>;

/**
 * Allows at most `max` works of each owner at once; `what` names them in the refusal. Nothing is queued.
 * @throws ServiceError `queue_full` above that.
 */
export function createAtOnce(max: number, what: string): AtOnce {
  const underWay = new Map<string, number>();
  return async (whose, work) => {
    const own = underWay.get(whose) ?? 0;
    if (own >= max) throw queueFull(`${own} ${what} are in progress. Try again in a moment.`, 1);
    underWay.set(whose, own + 1);
    try {
      return await work();
    } finally {
      const left = (underWay.get(whose) ?? 1) - 1;
      if (left === 0) underWay.delete(whose);
      else underWay.set(whose, left);
    }
  };
}
