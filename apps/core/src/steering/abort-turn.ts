import type { CoreContext } from '../context.ts';

/** Ends what is in flight in a conversation: the turn that runs or waits for its slot, or messages being gathered. */
export const abortTurn = ({ turnQueue, bursts }: Pick<CoreContext, 'turnQueue' | 'bursts'>, key: string): boolean =>
  turnQueue.abort(key, 'operator') || bursts.abort(key);
