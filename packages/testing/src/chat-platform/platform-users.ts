import { toPublic, type ChatHistory } from './chat-history.ts';
import type { FileToSay, PlatformMessage, PlatformUser } from './platform-types.ts';

export type Said = { chat: string; from: string; text: string; file?: FileToSay; reply_to?: string; mentions_bot?: boolean };

/** The people of the platform, played by a test. Messages are referred to by id. */
export type PlatformUsers = {
  /** Makes a chat a group. Any other chat becomes a private one with its first message. */
  openGroup(chatId: string, title: string): void;
  say(said: Said): PlatformMessage;
  /** Several files as one album; the first has the text. */
  sayAlbum(said: Omit<Said, 'file'>, files: readonly FileToSay[]): PlatformMessage[];
  edit(messageId: string, text: string): void;
  remove(messageId: string): void;
  react(messageId: string, from: string, emoji: string): void;
  /** @throws when the message has no such button. */
  press(messageId: string, from: string, buttonId: string): void;
};

export function createPlatformUsers(history: ChatHistory): PlatformUsers {
  let albums = 0;
  let presses = 0;

  const tellMessage = ({ chat, from, ...said }: Said & { album?: string }): PlatformMessage => {
    const to = history.hasChat(chat) ? history.chat(chat) : history.openChat({ id: chat, kind: 'private', title: chat });
    const message = toPublic(history.add({ chat: to, from: person(from), ...said }));
    history.tell({ kind: 'message', message });
    return message;
  };

  return {
    openGroup: (id, title) => void history.openChat({ id, kind: 'group', title }),
    say: tellMessage,
    sayAlbum(said, files) {
      const album = `a${++albums}`;
      return files.map((file, n) => tellMessage({ ...said, text: n === 0 ? said.text : '', file, album }));
    },
    edit(id, text) {
      const message = history.message(id);
      history.rewrite(message, text);
      history.tell({ kind: 'edited', message: toPublic(message) });
    },
    remove(id) {
      const message = history.message(id);
      message.isDeleted = true;
      history.tell({ kind: 'deleted', message: toPublic(message) });
    },
    react(id, from, emoji) {
      const { chat } = history.message(id);
      history.tell({ kind: 'reaction', chat_id: chat.id, message_id: id, from: person(from), emoji });
    },
    press(id, from, button_id) {
      const message = history.message(id);
      const { buttons = [] } = message;
      if (!buttons.some((button) => button.id === button_id)) throw new Error(`message ${id} has no button ${button_id}`);
      const press_id = `p${++presses}`;
      history.tell({ kind: 'press', message: toPublic(message), from: person(from), press_id, button_id });
    },
  };
}

const person = (id: string): PlatformUser => ({ id, name: id, bot: false });
