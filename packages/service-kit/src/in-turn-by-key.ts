import { queueFull } from './service-error.ts';

/** How many works may wait or run: of one key, and in all. `what` names them in the refusal. */
export type InTurnLimits = { ofKey: number; all: number; what: string };

/** For callers that limit the works themselves. */
const unlimited: InTurnLimits = { ofKey: Infinity, all: Infinity, what: 'works' };

/** Runs work of the same key sequentially, of different keys in parallel. @throws ServiceError `queue_full` above the limits. */
export function createInTurnByKey(limits = unlimited): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const lines = new Map<string, { last: Promise<unknown>; length: number }>();
  let all = 0;
  return async (key, work) => {
    const line = lines.get(key) ?? { last: Promise.resolve(), length: 0 };
    if (line.length >= limits.ofKey || all >= limits.all)
      throw queueFull(`Too many ${limits.what} are in progress. Try again in a moment.`, 1);
    lines.set(key, line);
    line.length++;
    all++;
    const own = line.last.then(work, work);
    line.last = own;
    try {
      return await own;
    } finally {
      all--;
      if (--line.length === 0) lines.delete(key);
    }
  };
}
