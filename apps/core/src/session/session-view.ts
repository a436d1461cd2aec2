import type { Session } from '@svc/contract/session.ts';
import type { TurnQueue } from '../turn/turn-queue.ts';
import type { SessionRow } from './session-store.ts';

/** The stored row with its live state. The fence, and the sessions of other engines, are ours alone. */
export function toSession({ public: _public, ...row }: SessionRow, queue: Pick<TurnQueue, 'stateOf'>): Session {
  const live = queue.stateOf(row.conversation_key);
  return { ...row, state: live === 'idle' && row.claimed_by !== null ? 'claimed' : live };
}
