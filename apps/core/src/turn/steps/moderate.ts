import type { Identity } from '@svc/contract/trust.ts';
import type { CoreContext } from '../../context.ts';
import type { Verdict } from '../../moderation/moderation-rules.ts';
import type { Turn } from '../turn.ts';

/** Whether the message may reach the engine. An operator's own words are not judged. */
export function moderate(
  { moderation, events }: Pick<CoreContext, 'moderation' | 'events'>,
  turn: Turn,
  identity: Identity,
): Verdict {
  if (turn.steering !== undefined) return { allowed: true };
  const verdict = moderation.check(turn.envelope.content.text, identity);
  if (!verdict.allowed) events.blocked(turn, identity, verdict.rule);
  return verdict;
}
