import type { Clock } from '@svc/service-kit/clock.ts';
import type { TurnQueue } from './turn-queue.ts';

/** Holds back turns that have not begun, for a caller that is about to stop the service: messages are still accepted, and run afterwards. */
export type TurnHold = {
  /** Holds for `ms` at most, because the caller may disappear. Another call extends it. */
  holdFor(ms: number): void;
};

export function createTurnHold(turnQueue: Pick<TurnQueue, 'hold'>, clock: Pick<Clock, 'after'>): TurnHold {
  let end = () => undefined as void;
  return {
    holdFor(ms) {
      const release = turnQueue.hold();
      const cancel = clock.after(ms, release);
      // Only after the new hold has begun, or turns would begin in between.
      end();
      end = () => {
        cancel();
        release();
      };
    },
  };
}
