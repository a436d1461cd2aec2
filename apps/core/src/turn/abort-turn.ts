import type { MessageBatches } from './message-batches.ts';
import type { TurnQueue } from './turn-queue.ts';

type Deps = { turnQueue: Pick<TurnQueue, 'abort'>; batches: Pick<MessageBatches, 'abort'> };

/** Ends what is in flight in a conversation: the turn that runs or waits for its slot, or messages being gathered. */
export const abortTurn = ({ turnQueue, batches }: Deps, key: string): boolean =>
  turnQueue.abort(key, 'operator') || batches.abort(key);
