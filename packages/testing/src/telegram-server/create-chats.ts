import type { Clock } from '@svc/service-kit/clock.ts';
import {
  ApiError,
  badRequest,
  type InlineKeyboard,
  type MessageContent,
  type TelegramChat,
  type TelegramMessage,
  type TelegramUser,
} from './api-types.ts';

/** A message with the fields that only the platform and the test see. */
export type StoredMessage = {
  message: TelegramMessage;
  /** Its earlier versions, the first one first. */
  versions: MessageContent[];
  isDeleted: boolean;
  /** By the id of the person who reacted. */
  reactions: Map<number, string[]>;
};

export type ChatState = {
  chat: TelegramChat;
  members: Set<number>;
  /** Names of topics by their thread ids. */
  topics: Map<number, string>;
  closedTopics: Set<number>;
  messages: Map<number, StoredMessage>;
  /** Why the bot may not write, in the words of the Bot API. */
  forbidden: string | null;
  migratedTo: number | null;
  /** The bot's drafts, by draft id. */
  drafts: Map<number, string>;
  actions: string[];
};

export type MessageToAdd = MessageContent & {
  chat: number;
  from: TelegramUser;
  thread?: number;
  replyTo?: number;
  keyboard?: InlineKeyboard;
};

/** The people, the chats and their messages. */
export type Chats = {
  users: Map<number, TelegramUser>;
  open(chat: TelegramChat, members: readonly TelegramUser[]): ChatState;
  /** @throws ApiError when there is none. */
  state(chat: number | string): ChatState;
  /** @throws ApiError when there is none, or the bot may not write there. */
  writable(chat: number | string, thread?: number): ChatState;
  /** An existing message; undefined when it does not exist or was deleted. */
  find(chat: number, id: number): StoredMessage | undefined;
  add(message: MessageToAdd): StoredMessage;
  /** Changes the text, caption or keyboard of a message. */
  rewrite(stored: StoredMessage, changes: Partial<TelegramMessage>): void;
};

export function createChats(clock: Clock): Chats {
  const states = new Map<number, ChatState>();
  // Private chats and groups of an account share a counter of message ids; each supergroup has its own, so ids of different chats coincide.
  let lastId = 100;

  const nextId = ({ chat, messages }: ChatState): number =>
    chat.type === 'supergroup' ? Math.max(0, ...messages.keys()) + 1 : ++lastId;
  const seconds = (): number => Math.floor(clock.now() / 1000);

  const chats: Chats = {
    users: new Map(),
    open(chat, members) {
      const state: ChatState = {
        chat,
        members: new Set(members.map(({ id }) => id)),
        topics: new Map(),
        closedTopics: new Set(),
        messages: new Map(),
        forbidden: null,
        migratedTo: null,
        drafts: new Map(),
        actions: [],
      };
      states.set(chat.id, state);
      return state;
    },
    state(chat) {
      const state =
        typeof chat === 'string' && chat.startsWith('@')
          ? [...states.values()].find((one) => one.chat.type !== 'private' && `@${one.chat.username}` === chat)
          : states.get(Number(chat));
      if (state === undefined) throw badRequest('chat not found');
      return state;
    },
    writable(chat, thread) {
      const state = chats.state(chat);
      const { migratedTo, forbidden } = state;
      if (migratedTo !== null)
        throw badRequest('group chat was upgraded to a supergroup chat', { migrate_to_chat_id: migratedTo });
      if (forbidden !== null) throw new ApiError(403, `Forbidden: ${forbidden}`);
      if (thread !== undefined && !state.topics.has(thread)) throw badRequest('message thread not found');
      if (thread !== undefined && state.closedTopics.has(thread)) throw badRequest('TOPIC_CLOSED');
      return state;
    },
    find(chat, id) {
      const stored = states.get(chat)?.messages.get(id);
      return stored === undefined || stored.isDeleted ? undefined : stored;
    },
    add({ chat, from, thread, replyTo, keyboard, ...content }) {
      const state = chats.state(chat);
      const replied = replyTo ?? thread;
      const shown = replied === undefined ? undefined : chats.find(state.chat.id, replied)?.message;
      const message: TelegramMessage = {
        message_id: nextId(state),
        from,
        chat: state.chat,
        date: seconds(),
        ...(thread === undefined ? replyThread(state.chat, shown) : { message_thread_id: thread, is_topic_message: true }),
        ...(shown !== undefined && { reply_to_message: withoutReply(shown) }),
        ...content,
        ...(keyboard !== undefined && { reply_markup: keyboard }),
      };
      const stored: StoredMessage = { message, versions: [], isDeleted: false, reactions: new Map() };
      state.messages.set(message.message_id, stored);
      return stored;
    },
    rewrite(stored, changes) {
      const { text, entities, caption, caption_entities } = stored.message;
      stored.versions.push({ text, entities, caption, caption_entities });
      const next = { ...stored.message, ...changes, edit_date: seconds() };
      stored.message = Object.fromEntries(Object.entries(next).filter(([, value]) => value !== undefined)) as TelegramMessage;
    },
  };
  return chats;
}

/** Replies in a supergroup without topics have a thread id, too: that of the first message, which is not a topic. */
const replyThread = ({ type }: TelegramChat, replied: TelegramMessage | undefined): { message_thread_id?: number } =>
  type === 'supergroup' && replied !== undefined ? { message_thread_id: replied.message_thread_id ?? replied.message_id } : {};

/** The message that is replied to is shown without its own `reply_to_message`. */
function withoutReply(message: TelegramMessage): TelegramMessage {
  const { reply_to_message: _, ...rest } = message;
  return structuredClone(rest);
}
