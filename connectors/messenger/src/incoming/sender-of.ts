import { cutText } from '@svc/service-kit/cut-text.ts';
import type { Sender } from '@svc/contract/envelope.ts';
import type { Chat, Message, User } from 'grammy/types';

/**
 * Who said it. What is said in the name of a chat (posts of channels, anonymous administrators) is that chat's, whatever `from` names: then it is an
 * account that all of them share. `chat:` keeps it apart from the ids of people.
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

/** `@name` where there is one, which no two people share. */
export function nameOf({ username, first_name, last_name }: Partial<User>): string {
  if (typeof username === 'string' && username !== '') return username;
  return [first_name, last_name].filter((part) => typeof part === 'string' && part !== '').join(' ');
}

export const titleOf = (chat: Chat): string => {
  const { title, username } = chat as { title?: unknown; username?: unknown };
  return [title, username].find((name): name is string => typeof name === 'string' && name !== '') ?? 'a chat';
};

const shown = (name: string): string => (name === '' ? 'nameless' : cutText(name, 256));
