/** A Telegram chat, and the topic in it. Written as a target: `chat` or `chat:topic`. */
export type ChatPlace = { chat_id: number | string; message_thread_id?: number };

const written = /^(-?\d{1,16}|@\w{4,32})(?::(\d{1,16}))?$/;

/** Null when it is not a chat. */
export function toChatPlace(target: string): ChatPlace | null {
  const [, chat, topic] = written.exec(target) ?? [];
  if (chat === undefined) return null;
  return {
    chat_id: chat.startsWith('@') ? chat : Number(chat),
    ...(topic !== undefined && { message_thread_id: Number(topic) }),
  };
}

/** The chat of a target without its topic: paces and limits apply to the chat. */
export const chatOf = (target: string): string => target.replace(/:\d+$/, '');

/** Private chats have positive ids. */
export const isPrivate = (target: string): boolean => /^\d/.test(target);

/** A supergroup has message ids of its own; all other chats share theirs. */
export const isSupergroup = (target: string): boolean => /^-100\d{8,}/.test(target);

/** The message id within its chat, from a message key. */
export const toMessageId = (id: string): number => Number(/\d+$/.exec(id)?.[0] ?? 0);
