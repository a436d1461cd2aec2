import { channelKey, userKey } from '@svc/connector-kit/conversation-key.ts';
import type { ConnectorState } from '@svc/connector-kit/state/state.ts';
import type { Message } from 'grammy/types';
import { meta } from '../meta.ts';

type Placed = Pick<Message, 'chat' | 'message_thread_id' | 'is_topic_message'>;

/** The names of chats and topics. A group that became a supergroup has another id since then, and stays the conversation that it was. */
export type ChatKeys = {
  /** The id that a chat had first. */
  root(chatId: number): number;
  /** Resolves when it is noted. */
  moved(from: number, to: number): Promise<void>;
  conversation(message: Placed): string;
  /** Ids of messages count within the chat of a bot, so the name of a message has both. */
  ofMessage(message: Pick<Message, 'chat' | 'message_id'>): string;
  ofUpdate(id: number): string;
  /** The same of a target. A chat with one person has their id, and groups have ids below zero. */
  ofTarget(target: string): string;
};

const prefix = 'chat-root/';

/** `mark`: of the bot, before the names of its messages and updates. */
export async function openChatKeys(state: ConnectorState, instanceId: string, mark: string): Promise<ChatKeys> {
  const roots = new Map((await state.list(prefix)).map(({ key, value }) => [Number(key.slice(prefix.length)), Number(value)]));
  const root = (id: number): number => roots.get(id) ?? id;
  return {
    root,
    async moved(from, to) {
      if (from === to || roots.has(to)) return;
      roots.set(to, root(from));
      await state.set(prefix + String(to), root(from));
    },
    ofTarget(target) {
      const [chat = '', topic] = target.split(':');
      const known = Number.isSafeInteger(Number(chat)) ? String(root(Number(chat))) : chat;
      const name = topic === undefined ? known : `${known}:${topic}`;
      return /^\d/.test(chat) ? userKey(meta.type, instanceId, name) : channelKey(meta.type, instanceId, name);
    },
    ofUpdate: (id) => `${mark}${id}`,
    ofMessage: ({ chat, message_id }) => `${mark}${chat.id}:${message_id}`,
    conversation({ chat, ...message }) {
      const name = placeName(root(chat.id), topicOf(message));
      return chat.type === 'private' ? userKey(meta.type, instanceId, name) : channelKey(meta.type, instanceId, name);
    },
  };
}

/** A chat, or a topic in it, as a target: `-1001234`, `-1001234:56`. */
export const targetOf = ({ chat, ...message }: Placed): string => placeName(chat.id, topicOf(message));

const placeName = (chat: number, topic: number | undefined): string => (topic === undefined ? String(chat) : `${chat}:${topic}`);

/** Threads of replies in a group that has no topics have an id, too. */
const topicOf = ({ is_topic_message, message_thread_id }: Omit<Placed, 'chat'>): number | undefined =>
  is_topic_message === true ? message_thread_id : undefined;
