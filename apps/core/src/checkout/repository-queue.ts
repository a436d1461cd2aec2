import { createInTurnByKey } from '@svc/service-kit/in-turn-by-key.ts';
import { queueFull } from '@svc/service-kit/service-error.ts';

/** Whose work it is, and on what. */
export type Job = { owner: string; repository: string };

/** What asks for one repository goes one after the other, of different ones a few at once, of one owner fewer. */
export type RepositoryQueue = {
  /** @throws ServiceError `queue_full`. */
  run<T>(job: Job, work: () => Promise<T>): Promise<T>;
  isIdle(): boolean;
};

/** One owner whose servers never answer leaves room for the others. */
const usual = { atOnce: 4, ofOwner: 2, inLine: 48, inLineOfOwner: 16 };

type Work = <T>(work: () => Promise<T>) => Promise<T>;

export function createRepositoryQueue(limits = usual): RepositoryQueue {
  // Bounded below, where it is known whose work it is.
  const inTurn = createInTurnByKey();
  const lanes = new Map<string, { run: Work; asked: number }>();
  const runAny = createLane(limits.atOnce);
  let asked = 0;

  const laneOf = (owner: string) => {
    const lane = lanes.get(owner) ?? { run: createLane(limits.ofOwner), asked: 0 };
    lanes.set(owner, lane);
    return lane;
  };

  return {
    async run({ owner, repository }, work) {
      const lane = laneOf(owner);
      if (asked >= limits.inLine || lane.asked >= limits.inLineOfOwner)
        throw queueFull(`${lane.asked} checkouts are being made already. Try again in a moment.`, 10);
      asked++;
      lane.asked++;
      try {
        return await inTurn(repository, () => lane.run(() => runAny(work)));
      } finally {
        asked--;
        if (--lane.asked === 0) lanes.delete(owner);
      }
    },
    isIdle: () => asked === 0,
  };
}

/** Runs so many at once, the others in the order they came. */
function createLane(atOnce: number): Work {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running < atOnce) running++;
    else await new Promise<void>((resolve) => waiting.push(resolve)); // the place is handed over
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  };
}
