import type { HandleResult } from '@svc/contract/turn.ts';
import type { Pipeline } from './pipeline.ts';

/** A link, and the replies that it has not said anything about yet. */
type Holder = { isGone: () => boolean; unconfirmed: Set<string> };

/** More than there are replies that wait for a word. */
const maxUnconfirmed = 10_000;

/** A reply that the connector says nothing of counts as delivered when it has it. */
export async function handOver(
  { pendingAcks }: Pick<Pipeline, 'pendingAcks'>,
  link: Holder,
  handled: HandleResult,
  confirms: boolean,
): Promise<void> {
  if (!pendingAcks.isExpected(handled.turn_id)) return;
  if (link.isGone()) return pendingAcks.callerGone(handled.turn_id);
  if (!confirms) return pendingAcks.delivered(handled.turn_id);
  if (link.unconfirmed.has(handled.turn_id)) return; // asked twice over one link
  // Of those that nobody waits for any more there is nothing left to say.
  if (link.unconfirmed.size >= maxUnconfirmed)
    for (const turnId of link.unconfirmed) if (!pendingAcks.isExpected(turnId)) link.unconfirmed.delete(turnId);
  link.unconfirmed.add(handled.turn_id);
  pendingAcks.accepted(handled.turn_id);
}

/** What the connector says became of a reply. */
export async function takeConfirmation(
  { pendingAcks }: Pick<Pipeline, 'pendingAcks'>,
  link: Holder,
  said: { turn_id: string; error?: string },
): Promise<void> {
  link.unconfirmed.delete(said.turn_id);
  if (said.error === undefined) await pendingAcks.delivered(said.turn_id);
  else await pendingAcks.undelivered(said.turn_id, said.error);
}
