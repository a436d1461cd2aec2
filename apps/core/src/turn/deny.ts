import type { Identity } from '@svc/contract/trust.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import { toResult } from './to-result.ts';
import type { TurnDeps } from './turn-deps.ts';
import type { Turn } from './turn.ts';

type Deps = Pick<TurnDeps, 'events' | 'pending'>;

/**
 * A sender without access: told on private surfaces that ask for an answer, with a pairing code where the instance
 * gives them, and nothing anywhere else. No engine is called, and the message is not kept.
 */
export function deny({ events, pending }: Deps, turn: Turn, identity: Identity): HandleResult {
  const { envelope } = turn;
  events.denied(turn, identity);
  const invitation = pending.note(envelope, identity);
  const isTold = envelope.public !== true && envelope.delivery !== 'async';
  return toResult(turn, 'denied', isTold ? ['no access', ...(invitation === null ? [] : [invitation])].join('\n') : '');
}
