import { queueFull } from '@svc/service-kit/service-error.ts';

/** What asks for one repository goes one after the other, and of different ones a few at once. */
export type RepositoryQueue = {
  /** @throws ServiceError `queue_full`. */
  run<T>(name: string, work: () => Promise<T>): Promise<T>;
  isIdle(): boolean;
};

const limits = { atOnce: 3, inLine: 48 };

export function createRepositoryQueue({ atOnce, inLine } = limits): RepositoryQueue {
  const tails = new Map<string, Promise<void>>();
  const waiting: (() => void)[] = [];
  let running = 0;
  let asked = 0;

  const takeSlot = async (): Promise<void> => {
    if (running < atOnce) running++;
    else await new Promise<void>((resolve) => waiting.push(resolve)); // the slot is handed over
  };
  const freeSlot = () => {
    const next = waiting.shift();
    if (next === undefined) running--;
    else next();
  };
  const inSlot = async <T>(work: () => Promise<T>): Promise<T> => {
    await takeSlot();
    try {
      return await work();
    } finally {
      freeSlot();
    }
  };

  return {
    async run(name, work) {
      if (asked >= inLine) throw queueFull(`${asked} checkouts are being made already. Try again in a moment.`, 10);
      asked++;
      const done = (tails.get(name) ?? Promise.resolve()).then(() => inSlot(work));
      const tail = done.then(
        () => undefined,
        () => undefined,
      );
      tails.set(name, tail);
      try {
        return await done;
      } finally {
        asked--;
        if (tails.get(name) === tail) tails.delete(name);
      }
    },
    isIdle: () => asked === 0,
  };
}
