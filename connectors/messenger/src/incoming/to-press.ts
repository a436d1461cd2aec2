import type { CallbackQuery } from 'grammy/types';
import type { Press } from '../outgoing/ask-buttons.ts';
import { targetOf, type ChatKeys } from './chat-keys.ts';
import { isOpenToAll } from './to-envelope.ts';

/** A pressed button. Null when its message is not in a chat that the bot is in. */
export function toPress({ id, data = '', from, message }: CallbackQuery, keys: ChatKeys): Press | null {
  if (message === undefined) return null;
  return {
    id,
    data,
    chat: targetOf(message),
    messageId: message.message_id,
    conversationKey: keys.conversation(message),
    sender: String(from.id),
    isPublic: isOpenToAll(message),
  };
}
