import {
  PlatformRefusal,
  type FileToSay,
  type PlatformChat,
  type PlatformMessage,
  type PlatformUpdate,
  type PlatformUser,
  type StoredMessage,
  type UpdateBody,
} from './platform-types.ts';

export type MessageToAdd = Pick<PlatformMessage, 'chat' | 'from' | 'text'> &
  Partial<Pick<PlatformMessage, 'album' | 'buttons' | 'reply_to' | 'mentions_bot'>> & { file?: FileToSay; nonce?: string };

/** The chats, their messages and the updates that are not confirmed yet. */
export type ChatHistory = {
  /** @throws PlatformRefusal when there is no such chat. */
  chat(id: string): PlatformChat;
  openChat(chat: PlatformChat): PlatformChat;
  hasChat(id: string): boolean;
  /** @throws PlatformRefusal when it was deleted, or is in another chat. */
  message(id: string, chatId?: string): StoredMessage;
  /** The messages of one sender in a chat, in order, including deleted ones. */
  messagesOf(from: PlatformUser, chatId: string): StoredMessage[];
  add(message: MessageToAdd): StoredMessage;
  rewrite(message: StoredMessage, text: string): void;
  bytesOf(fileId: string): Uint8Array | undefined;
  tell(update: UpdateBody): void;
  /** The updates after `after`. Earlier ones are confirmed and removed. */
  updatesAfter(after: number): PlatformUpdate[];
  /** Called for each new update. */
  onUpdate: () => void;
};

export function createChatHistory(): ChatHistory {
  const chats = new Map<string, PlatformChat>();
  const messages = new Map<string, StoredMessage>();
  const files = new Map<string, FileToSay>();
  let updates: PlatformUpdate[] = [];
  let lastUpdate = 0;
  let lastMessage = 100;

  const keepFile = (file: FileToSay) => {
    const id = `f${files.size + 1}`;
    files.set(id, file);
    return { id, name: file.name, mime: file.mime, size: file.bytes.length };
  };

  const history: ChatHistory = {
    chat(id) {
      const chat = chats.get(id);
      if (chat === undefined) throw new PlatformRefusal(404, 'chat_not_found');
      return chat;
    },
    openChat(chat) {
      chats.set(chat.id, chat);
      return chat;
    },
    hasChat: (id) => chats.has(id),
    message(id, chatId) {
      const message = messages.get(id);
      const isThere = message !== undefined && !message.isDeleted && (chatId ?? message.chat.id) === message.chat.id;
      if (!isThere) throw new PlatformRefusal(404, 'message_not_found');
      return message;
    },
    messagesOf: (from, chatId) => [...messages.values()].filter((one) => one.chat.id === chatId && one.from.id === from.id),
    add({ file, nonce = null, mentions_bot = false, ...fields }) {
      const message: StoredMessage = {
        id: String(++lastMessage),
        ...fields,
        ...(file !== undefined && { file: keepFile(file) }),
        mentions_bot,
        texts: [fields.text],
        nonce,
        isDeleted: false,
        reactions: [],
      };
      messages.set(message.id, message);
      return message;
    },
    rewrite(message, text) {
      message.text = text;
      message.texts.push(text);
    },
    bytesOf: (fileId) => files.get(fileId)?.bytes,
    tell(update) {
      updates.push({ id: ++lastUpdate, ...update });
      history.onUpdate();
    },
    updatesAfter(after) {
      updates = updates.filter(({ id }) => id > after);
      return updates;
    },
    onUpdate: () => undefined,
  };
  return history;
}

/** A message as the API shows it: its current state, without the fields for tests. */
export function toPublic(message: StoredMessage): PlatformMessage {
  const isPublic = ([name]: [string, unknown]) => !['texts', 'nonce', 'isDeleted', 'reactions'].includes(name);
  return structuredClone(Object.fromEntries(Object.entries(message).filter(isPublic))) as PlatformMessage;
}
