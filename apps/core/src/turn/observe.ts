import type { Identity } from '@svc/contract/trust.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import { compositeKey } from '@svc/service-kit/composite-key.ts';
import { originOf } from './origin.ts';
import { toResult } from './to-result.ts';
import type { TurnDeps } from './turn-deps.ts';
import type { Turn } from './turn.ts';

/** A message that is only seen: kept as context of the conversation's next turn. */
export async function observe(
  { events, observed }: Pick<TurnDeps, 'events' | 'observed'>,
  turn: Turn,
  identity: Identity,
): Promise<HandleResult> {
  const { content, conversation_key, message_id } = turn.envelope;
  const isNew = await observed.add(conversation_key, {
    sender: identity.display_name,
    tier: identity.trust_tier,
    text: content.text,
    attachments: content.attachments,
    // Another sender's message of this id is another message.
    message_id: message_id === undefined ? undefined : compositeKey(originOf(turn.envelope), message_id),
  });
  if (isNew) await events.inbound(turn, identity, true);
  return toResult(turn, 'observed', '');
}
