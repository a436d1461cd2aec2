import type { Message } from 'grammy/types';

/** The ids of the last messages that came, by chat. */
export type NewestMessages = { note(message: Pick<Message, 'chat' | 'message_id'>): void; of(chat: string): number | undefined };

const mostChats = 2000;

export function createNewestMessages(): NewestMessages {
  const newest = new Map<string, number>();
  return {
    note({ chat, message_id }) {
      const name = String(chat.id);
      newest.delete(name);
      newest.set(name, message_id);
      for (const oldest of newest.keys()) if (newest.size > mostChats) newest.delete(oldest);
    },
    of: (chat) => newest.get(chat),
  };
}
