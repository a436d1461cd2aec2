/** A chat of Telegram, and the topic in it. As a target of messages it is written `chat` or `chat:topic`. */
export type ChatPlace = { chat_id: number | string; message_thread_id?: number };

const written = /^(-?\d{1,16}|@\w{4,32})(?::(\d{1,16}))?$/;

/** Null for what names no chat. */
export function toChatPlace(target: string): ChatPlace | null {
  const [, chat, topic] = written.exec(target) ?? [];
  if (chat === undefined) return null;
  return {
    chat_id: chat.startsWith('@') ? chat : Number(chat),
    ...(topic !== undefined && { message_thread_id: Number(topic) }),
  };
}

/** The chat alone, as a target: what has a pace and limits. */
export const chatOf = (target: string): string => target.replace(/:\d+$/, '');

/** Chats with one person have positive ids. */
export const isPrivate = (target: string): boolean => /^\d/.test(target);

/** Its messages have ids of their own; those of other chats count together. */
export const isSupergroup = (target: string): boolean => /^-100\d{8,}/.test(target);

/** The id of a message within its chat, of what names a message. */
export const toMessageId = (id: string): number => Number(/\d+$/.exec(id)?.[0] ?? 0);
