import type { Clock } from '@svc/service-kit/clock.ts';
import type { TurnQueue } from './turn-queue.ts';

/** Holds back turns that have not begun, for who is about to stop the service: what comes meanwhile is accepted, and runs afterwards. */
export type TurnHold = {
  /** From now on, for `ms` at most: the caller may be gone. Asked again it holds on. */
  holdFor(ms: number): void;
};

export function createTurnHold(turnQueue: Pick<TurnQueue, 'hold'>, clock: Pick<Clock, 'after'>): TurnHold {
  let end = () => undefined as void;
  return {
    holdFor(ms) {
      const release = turnQueue.hold();
      const cancel = clock.after(ms, release);
      // After the new one has begun, or turns would begin in between.
      end();
      end = () => {
        cancel();
        release();
      };
    },
  };
}
