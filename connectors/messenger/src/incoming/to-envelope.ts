import { userKey } from '@svc/connector-kit/conversation-key.ts';
import type { Envelope } from '@svc/contract/envelope.ts';
import type { Message, User } from 'grammy/types';
import { meta } from '../meta.ts';

/** A message as the core takes it; null for what is not answered. */
export function toEnvelope(instanceId: string, message: Message): Envelope | null {
  const { chat, from, text, message_id } = message;
  if (chat.type !== 'private' || from === undefined || text === undefined) return null;
  return {
    channel: meta.type,
    conversation_key: userKey(meta.type, instanceId, String(chat.id)),
    message_id: `${chat.id}:${message_id}`,
    sender: senderOf(from),
    content: { text },
    capabilities: meta.capabilities,
    channel_context: { chatId: String(chat.id) },
  };
}

const senderOf = ({ id, username, first_name, is_bot }: User): Envelope['sender'] => ({
  raw_id: String(id),
  raw_username: (username ?? first_name).slice(0, 256),
  is_bot,
});
