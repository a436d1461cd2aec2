import { queueFull } from './service-error.ts';

/** Works that wait or run: of one key, and of all. `what` names them in the refusal. */
export type InTurnLimits = { ofKey: number; all: number; what: string };

/** For who bounds the works already. */
const unlimited: InTurnLimits = { ofKey: Infinity, all: Infinity, what: 'works' };

/** Runs work of one key one after the other, of different keys side by side. @throws ServiceError `queue_full` past the limits. */
export function createInTurnByKey(limits = unlimited): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const lines = new Map<string, { last: Promise<unknown>; length: number }>();
  let all = 0;
  return async (key, work) => {
    const line = lines.get(key) ?? { last: Promise.resolve(), length: 0 };
    if (line.length >= limits.ofKey || all >= limits.all)
      throw queueFull(`Too many ${limits.what} are under way already. Try again in a moment.`, 1);
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
