import { channelKey, userKey } from '@svc/connector-kit/conversation-key.ts';
import type { ConnectorState } from '@svc/connector-kit/state/state.ts';
import type { Message } from 'grammy/types';
import { meta } from '../meta.ts';

type Placed = Pick<Message, 'chat' | 'message_thread_id' | 'is_topic_message'>;

/** Keys of chats and topics. A group that became a supergroup has a new id, but keeps its conversation. */
export type ChatKeys = {
  /** The first id of a chat. */
  root(chatId: number): number;
  /** Resolves when the move is stored. */
  moved(from: number, to: number): Promise<void>;
  conversation(message: Placed): string;
  /** Message ids are unique only within a chat of the bot, so a key contains both. */
  ofMessage(message: Pick<Message, 'chat' | 'message_id'>): string;
  ofUpdate(id: number): string;
  /** The key of a target. A private chat has its person's id; ids of groups are negative. */
  ofTarget(target: string): string;
};

const prefix = 'chat-root/';

/** `mark`: the bot's prefix of message and update ids. */
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

/** Reply threads in a group without topics have an id, too, so it is used only for topics. */
const topicOf = ({ is_topic_message, message_thread_id }: Omit<Placed, 'chat'>): number | undefined =>
  is_topic_message === true ? message_thread_id : undefined;
