import { isRecord } from '@svc/contract/json-value.ts';
import type { CallbackQuery, ChatMemberUpdated, Message } from 'grammy/types';

/** The kinds of updates that are requested. Telegram sends no others. */
export const allowedUpdates = [
  'message',
  'edited_message',
  'channel_post',
  'edited_channel_post',
  'callback_query',
  'my_chat_member',
] as const;

/** One update. Its ids are validated, everything else is unchecked. */
export type Incoming = { id: number } & (
  | { kind: 'message' | 'edited'; message: Message }
  | { kind: 'press'; press: CallbackQuery }
  | { kind: 'member'; change: ChatMemberUpdated }
  | { kind: 'other' }
);

/** Null for an update without a valid id, which can be neither identified nor confirmed. */
export function readUpdate(update: unknown): Incoming | null {
  const id = updateIdOf(update);
  if (!isRecord(update) || id === null) return null;
  const message = update['message'] ?? update['channel_post'];
  if (isMessage(message)) return { id, kind: 'message', message };
  const edited = update['edited_message'] ?? update['edited_channel_post'];
  if (isMessage(edited)) return { id, kind: 'edited', message: edited };
  const { callback_query: press, my_chat_member: change } = update;
  if (isPress(press)) return { id, kind: 'press', press };
  if (isRecord(change) && isChat(change['chat'])) return { id, kind: 'member', change: change as unknown as ChatMemberUpdated };
  return { id, kind: 'other' };
}

export const updateIdOf = (update: unknown): number | null => (isRecord(update) ? idOf(update['update_id']) : null);

/** A Telegram id must be an exact integer: a rounded one could be someone else's. */
const isId = (value: unknown): value is number => typeof value === 'number' && Number.isSafeInteger(value);

/** Some Bot API servers write ids as text. */
const idOf = (value: unknown): number | null => {
  const id = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return isId(id) && id >= 0 ? id : null;
};

const isChat = (chat: unknown): boolean => isRecord(chat) && isId(chat['id']) && typeof chat['type'] === 'string';
const isUser = (user: unknown): boolean => isRecord(user) && isId(user['id']);
const isOptional = (value: unknown, holds: (value: unknown) => boolean): boolean => value === undefined || holds(value);

const isMessage = (message: unknown): message is Message =>
  isRecord(message) &&
  isId(message['message_id']) &&
  isChat(message['chat']) &&
  isOptional(message['from'], isUser) &&
  isOptional(message['sender_chat'], isChat) &&
  isOptional(message['message_thread_id'], isId) &&
  isOptional(message['media_group_id'], (group) => typeof group === 'string');

const isPress = (press: unknown): press is CallbackQuery =>
  isRecord(press) &&
  typeof press['id'] === 'string' &&
  isUser(press['from']) &&
  isOptional(press['data'], (data) => typeof data === 'string') &&
  isOptional(press['message'], isMessage);
