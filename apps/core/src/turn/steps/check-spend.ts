import type { Identity } from '@svc/contract/trust.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import { toResult } from '../to-result.ts';
import type { TurnDeps } from '../turn-deps.ts';
import type { Turn } from '../turn.ts';

/** How the turn ends when a spending limit is reached; null while none is. */
export function checkSpend({ spend }: Pick<TurnDeps, 'spend'>, turn: Turn, identity: Identity): HandleResult | null {
  const verdict = spend.check(identity, turn.envelope.public === true, turn.envelope);
  return verdict.allowed ? null : { ...toResult(turn, 'blocked', verdict.reply), blocked_by: 'spending' };
}
