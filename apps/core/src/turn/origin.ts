import type { Envelope } from '@svc/contract/envelope.ts';
import type { Identity } from '@svc/contract/trust.ts';
import { compositeKey } from '@svc/service-kit/composite-key.ts';
import type { JournalRow } from './turn-journal.ts';

type Message = Pick<Envelope, 'channel' | 'sender' | 'public'>;

/**
 * Who sent a message and where: a name alone is a different person on every channel, and what is said in private is not
 * for a public surface. Messages of the same origin may share a turn or an answer, others never.
 */
export const originOf = ({ channel, sender, public: isPublic }: Message): string =>
  compositeKey(channel, sender.raw_id, isPublic === true);

/** The origin of a journaled message. */
export const originOfRow = ({ channel, conversation_key, sender, public: isPublic }: JournalRow): string =>
  originOf({
    channel: channel ?? conversation_key.split(':', 1)[0] ?? '',
    sender: { raw_id: sender },
    public: isPublic === 1,
  });

/** What trust gives a sender at this moment. */
export const rightsKey = (identity: Identity): string => compositeKey(identity.principal_id, rightsOfAnyone(identity));

/** The same, whoever it is. */
export const rightsOfAnyone = (identity: Identity): string => {
  const { trust_tier, tool_policy, tool_servers, asks, bypass_moderation, denied } = identity;
  const servers = tool_servers === '*' ? '*' : compositeKey(...tool_servers);
  return compositeKey(trust_tier, tool_policy, servers, asks, bypass_moderation, denied);
};
