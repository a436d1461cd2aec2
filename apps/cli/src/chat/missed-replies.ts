import type { Delivery, DeliveryPage } from '@svc/contract/delivery.ts';
import { duration } from '../status/duration.ts';
import { askCore } from '../service-client.ts';

/** What was answered in a conversation while nobody listened. */
export type MissedReplies = {
  /** The oldest first; none when the core does not say. */
  read(): Promise<Delivery[]>;
  /** It was shown: from now on it counts as delivered. */
  confirm(reply: Delivery): Promise<void>;
};

export function createMissedReplies(coreUrl: string, conversationKey: string): MissedReplies {
  return {
    async read() {
      const query = new URLSearchParams({ state: 'failed', conversation_key: conversationKey });
      const answer = await askCore<DeliveryPage>(`${coreUrl}/v2/deliveries?${query.toString()}`);
      // A reply that has a way to a channel is tried there.
      return answer.ok ? answer.body.deliveries.filter(({ instance_id }) => instance_id === null).toReversed() : [];
    },
    async confirm({ id }) {
      await askCore(`${coreUrl}/v2/deliveries/${encodeURIComponent(id)}/delivered`, { method: 'POST' });
    },
  };
}

/** What stands above a reply that was missed. */
export const missedTitle = ({ created_at }: Delivery, now: number): string =>
  `answered while nobody listened, ${duration(now - created_at)} ago`;

/** True where no reply but a failure was missed. */
export const isFailure = ({ error }: Delivery): boolean => error?.startsWith('the turn failed') === true;
