import type { Identity } from '@svc/contract/trust.ts';
import type { CoreContext } from '../../context.ts';
import type { Verdict } from '../../moderation/moderation-rules.ts';
import type { Turn } from '../turn.ts';

/** Whether the message may reach the engine. */
export function moderate(
  { moderation, events }: Pick<CoreContext, 'moderation' | 'events'>,
  turn: Turn,
  identity: Identity,
): Verdict {
  const verdict = moderation.check(turn.envelope.content.text, identity);
  if (!verdict.allowed) events.blocked(turn, identity, verdict.rule);
  return verdict;
}
