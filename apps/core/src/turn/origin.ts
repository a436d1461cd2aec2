import type { Envelope } from '@svc/contract/envelope.ts';
import { parseJsonOrNull } from '@svc/contract/json-value.ts';
import type { Identity } from '@svc/contract/trust.ts';
import { compositeKey } from '@svc/service-kit/composite-key.ts';
import type { JournalRow } from './turn-row.ts';

type Message = Pick<Envelope, 'channel' | 'sender' | 'public'>;

/**
 * Who sent a message and where: the same name is a different person on every channel, and private text does not belong on
 * a public surface. Only messages of the same origin may share a turn or an answer.
 */
export const originOf = ({ channel, sender, public: isPublic }: Message): string =>
  compositeKey(channel, sender.raw_id, isPublic === true);

/** Who sent a journaled message, and whether in public. */
export const senderOfRow = ({ channel, conversation_key, sender, public: isPublic }: JournalRow): Message => ({
  channel: channel ?? conversation_key.split(':', 1)[0] ?? '',
  sender: { raw_id: sender },
  public: isPublic === 1,
});

/** The origin of a journaled message. */
export const originOfRow = (row: JournalRow): string => originOf(senderOfRow(row));

/** The id of an observed message: another sender's message with the same id is a different message. */
export const observedId = (message: Message, messageId: string): string => compositeKey(originOf(message), messageId);

/** The parts of such an id; null for a text of another form. */
export function parseObservedId(name: string): { id: string; sender: Message } | null {
  const [origin, id] = partsIn(name);
  if (typeof origin !== 'string' || typeof id !== 'string') return null;
  const [channel, rawId, isPublic] = partsIn(origin);
  if (typeof channel !== 'string' || typeof rawId !== 'string') return null;
  return { id, sender: { channel, sender: { raw_id: rawId }, public: isPublic === true } };
}

/** The parts of a composite key; none of another text. */
function partsIn(key: string): unknown[] {
  const parts = parseJsonOrNull(key);
  return Array.isArray(parts) ? parts : [];
}

/** A key of the sender and their current rights. */
export const rightsKey = (identity: Identity): string => compositeKey(identity.principal_id, rightsOfAnyone(identity));

/** A key of the rights alone, whoever has them. */
export const rightsOfAnyone = (identity: Identity): string => {
  const { trust_tier, tool_policy, tool_servers, asks, bypass_moderation, denied } = identity;
  const servers = tool_servers === '*' ? '*' : compositeKey(...tool_servers);
  return compositeKey(trust_tier, tool_policy, servers, asks, bypass_moderation, denied);
};
