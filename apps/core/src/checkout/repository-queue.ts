import { createInTurnByKey } from '@svc/service-kit/in-turn-by-key.ts';
import { createLane, type Lane } from '@svc/service-kit/lane.ts';
import { queueFull } from '@svc/service-kit/service-error.ts';

/** The owner of the work, and the repository that it concerns. */
export type Job = { owner: string; repository: string };

/** Serializes the work on one repository, and limits the concurrent work on different ones, in total and per owner. */
export type RepositoryQueue = {
  /** @throws ServiceError `queue_full`. */
  run<T>(job: Job, work: () => Promise<T>): Promise<T>;
  isIdle(): boolean;
};

/** The limits per owner leave room for others when an owner's servers never answer. */
const usual = { atOnce: 4, ofOwner: 2, inLine: 48, inLineOfOwner: 16 };

export function createRepositoryQueue(limits = usual): RepositoryQueue {
  // Its queue is bounded in `run`, where the owner is known.
  const inTurn = createInTurnByKey();
  const lanes = new Map<string, { run: Lane; asked: number }>();
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
        throw queueFull(`${lane.asked} checkouts are already being made. Try again in a moment.`, 10);
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
