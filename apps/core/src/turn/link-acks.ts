import type { HandleResult } from '@svc/contract/turn.ts';
import type { Pipeline } from './pipeline.ts';

/** A link, and the turns whose replies it has not acknowledged yet. */
type Holder = { isGone: () => boolean; acks: Set<string> };

/** More than the number of replies that can wait for an acknowledgement. */
const maxAcks = 10_000;

/** Without confirmations from the connector, a reply counts as delivered once the connector has it. */
export async function deliver(
  { pendingAcks }: Pick<Pipeline, 'pendingAcks'>,
  link: Holder,
  handled: HandleResult,
  confirms: boolean,
): Promise<void> {
  if (!pendingAcks.isExpected(handled.turn_id)) return;
  if (link.isGone()) return pendingAcks.callerGone(handled.turn_id);
  if (!confirms) return pendingAcks.delivered(handled.turn_id);
  if (link.acks.has(handled.turn_id)) return; // requested twice over one link
  // Acknowledgements that nobody waits for any more are dropped.
  if (link.acks.size >= maxAcks) for (const turnId of link.acks) if (!pendingAcks.isExpected(turnId)) link.acks.delete(turnId);
  link.acks.add(handled.turn_id);
  pendingAcks.accepted(handled.turn_id);
}

/** Takes the connector's report on the delivery of a reply. */
export async function takeAck(
  { pendingAcks }: Pick<Pipeline, 'pendingAcks'>,
  link: Holder,
  said: { turn_id: string; error?: string },
): Promise<void> {
  link.acks.delete(said.turn_id);
  if (said.error === undefined) await pendingAcks.delivered(said.turn_id);
  else await pendingAcks.undelivered(said.turn_id, said.error);
}
