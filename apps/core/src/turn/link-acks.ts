import type { HandleResult } from '@svc/contract/turn.ts';
import type { Pipeline } from './pipeline.ts';

/** A link, and the turns whose replies it has not acknowledged yet. */
type Holder = { isGone: () => boolean; acks: Set<string> };

/** More than there are replies that wait for an acknowledgement. */
const maxAcks = 10_000;

/** A reply that the connector says nothing of counts as delivered when it has it. */
export async function deliver(
  { pendingAcks }: Pick<Pipeline, 'pendingAcks'>,
  link: Holder,
  handled: HandleResult,
  confirms: boolean,
): Promise<void> {
  if (!pendingAcks.isExpected(handled.turn_id)) return;
  if (link.isGone()) return pendingAcks.callerGone(handled.turn_id);
  if (!confirms) return pendingAcks.delivered(handled.turn_id);
  if (link.acks.has(handled.turn_id)) return; // asked twice over one link
  // Of those that nobody waits for any more there is nothing left to say.
  if (link.acks.size >= maxAcks) for (const turnId of link.acks) if (!pendingAcks.isExpected(turnId)) link.acks.delete(turnId);
  link.acks.add(handled.turn_id);
  pendingAcks.accepted(handled.turn_id);
}

/** What the connector says became of a reply. */
export async function takeAck(
  { pendingAcks }: Pick<Pipeline, 'pendingAcks'>,
  link: Holder,
  said: { turn_id: string; error?: string },
): Promise<void> {
  link.acks.delete(said.turn_id);
  if (said.error === undefined) await pendingAcks.delivered(said.turn_id);
  else await pendingAcks.undelivered(said.turn_id, said.error);
}
