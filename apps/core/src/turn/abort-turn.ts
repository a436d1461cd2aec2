import type { Bursts } from './bursts.ts';
import type { TurnQueue } from './turn-queue.ts';

type Deps = { turnQueue: Pick<TurnQueue, 'abort'>; bursts: Pick<Bursts, 'abort'> };

/** Ends what is in flight in a conversation: the turn that runs or waits for its slot, or messages being gathered. */
export const abortTurn = ({ turnQueue, bursts }: Deps, key: string): boolean =>
  turnQueue.abort(key, 'operator') || bursts.abort(key);
