import type { CallbackQuery } from 'grammy/types';
import type { Press } from './ask-buttons.ts';

/** A button that was pressed, as Telegram says it. Null for one that is at no message of ours. */
export function toPress(
  { id, data, from, message }: CallbackQuery,
  keyOf: (chat: number, topic?: number) => string,
): Press | null {
  if (message === undefined) return null;
  const { chat, message_id: messageId } = message;
  const topic = 'is_topic_message' in message && message.is_topic_message === true ? message.message_thread_id : undefined;
  return {
    id,
    data: data ?? '',
    chat: String(chat.id),
    messageId,
    conversationKey: keyOf(chat.id, topic),
    sender: String(from.id),
  };
}
