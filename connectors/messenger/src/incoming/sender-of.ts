import { cutText } from '@svc/service-kit/cut-text.ts';
import type { Sender } from '@svc/contract/envelope.ts';
import type { Chat, Message, User } from 'grammy/types';

/**
 * The sender. A message in the name of a chat (channel posts, anonymous administrators) belongs to that chat, whatever `from` says: `from`
 * is then a shared account. The prefix `chat:` keeps these ids apart from those of people.
 */
export function senderOf({ sender_chat, from, chat }: Pick<Message, 'sender_chat' | 'from' | 'chat'>): Sender {
  if (sender_chat !== undefined) return { raw_id: `chat:${sender_chat.id}`, raw_username: shown(titleOf(sender_chat)) };
  return from === undefined ? { raw_id: `chat:${chat.id}`, raw_username: shown(titleOf(chat)) } : personOf(from);
}

export const personOf = (user: User): Sender => ({
  raw_id: String(user.id),
  raw_username: shown(nameOf(user)),
  ...(user.is_bot && { is_bot: true }),
});

/** `@name` if there is one, because it is unique. */
export function nameOf({ username, first_name, last_name }: Partial<User>): string {
  if (typeof username === 'string' && username !== '') return username;
  return [first_name, last_name].filter((part) => typeof part === 'string' && part !== '').join(' ');
}

export const titleOf = (chat: Chat): string => {
  const { title, username } = chat as { title?: unknown; username?: unknown };
  return [title, username].find((name): name is string => typeof name === 'string' && name !== '') ?? 'a chat';
};

const shown = (name: string): string => (name === '' ? 'nameless' : cutText(name, 256));
