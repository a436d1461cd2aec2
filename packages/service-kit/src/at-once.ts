import { queueFull } from './service-error.ts';

/** Does work for one of many, who may have so much of it under way. */
export type AtOnce = <T>(whose: string, work: () => Promise<T>) => Promise<T>;

/**
 * At most `max` works of each at once; `what` names them in the refusal. Nothing waits here.
 * @throws ServiceError `queue_full` for one more.
 */
export function createAtOnce(max: number, what: string): AtOnce {
  const underWay = new Map<string, number>();
  return async (whose, work) => {
    const own = underWay.get(whose) ?? 0;
    if (own >= max) throw queueFull(`${own} ${what} are under way already. Try again in a moment.`, 1);
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
