import { queueFull } from '@svc/service-kit/service-error.ts';

/** Works that wait or run: of one key, and of all. */
const usual = { ofKey: 64, all: 1000 };

/** Runs work of one key one after the other, of different keys side by side. @throws ServiceError `queue_full` past the limits. */
export function createInTurnByKey(limits = usual): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const lines = new Map<string, { last: Promise<unknown>; length: number }>();
  let all = 0;
  return async (key, work) => {
    const line = lines.get(key) ?? { last: Promise.resolve(), length: 0 };
    if (line.length >= limits.ofKey || all >= limits.all)
      throw queueFull('Too many changes of messages are being taken already. Try again in a moment.', 1);
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
