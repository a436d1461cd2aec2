import type { Bursts } from '../turn/bursts.ts';
import type { TurnQueue } from '../turn/turn-queue.ts';

/** Ends what is in flight in a conversation: the turn that runs or waits for its slot, or messages being gathered. */
export const abortTurn = ({ turnQueue, bursts }: { turnQueue: TurnQueue; bursts: Bursts }, key: string): boolean =>
  turnQueue.abort(key, 'operator') || bursts.abort(key);
