import type { Envelope } from '@svc/contract/envelope.ts';
import { parseJsonOrNull } from '@svc/contract/json-value.ts';
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

/** Who sent a journaled message. */
export const senderOfRow = ({ channel, conversation_key, sender }: JournalRow): Pick<Envelope, 'channel' | 'sender'> => ({
  channel: channel ?? conversation_key.split(':', 1)[0] ?? '',
  sender: { raw_id: sender },
});

/** The origin of a journaled message. */
export const originOfRow = (row: JournalRow): string => originOf({ ...senderOfRow(row), public: row.public === 1 });

/** The name of a message that is only seen: another sender's message of its id is another message. */
export const observedId = (message: Message, messageId: string): string => compositeKey(originOf(message), messageId);

/** What such a name was made of; null for one that was not made so. */
export function parseObservedId(name: string): { id: string; sender: Pick<Envelope, 'channel' | 'sender'> } | null {
  const [origin, id] = textsIn(name);
  const [channel, rawId] = textsIn(origin ?? '');
  if (id === undefined || channel === undefined || rawId === undefined) return null;
  return { id, sender: { channel, sender: { raw_id: rawId } } };
}

/** The texts of a composite key; none of another text. */
function textsIn(key: string): string[] {
  const parts = parseJsonOrNull(key);
  return Array.isArray(parts) ? parts.filter((part) => typeof part === 'string') : [];
}

/** What trust gives a sender at this moment. */
export const rightsKey = (identity: Identity): string => compositeKey(identity.principal_id, rightsOfAnyone(identity));

/** The same, whoever it is. */
export const rightsOfAnyone = (identity: Identity): string => {
  const { trust_tier, tool_policy, tool_servers, asks, bypass_moderation, denied } = identity;
  const servers = tool_servers === '*' ? '*' : compositeKey(...tool_servers);
  return compositeKey(trust_tier, tool_policy, servers, asks, bypass_moderation, denied);
};
