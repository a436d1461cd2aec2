import type { InlineButton, MessageContent, TelegramEntity, TelegramMessage, TelegramUser } from './api-types.ts';
import { addFoundEntities } from './found-entities.ts';
import { toDocument, toFileFields, toPhoto, type FileToAdd } from './create-files.ts';
import type { Platform, Press } from './methods/method-table.ts';

/** Where a person writes, and which message they answer. `chat`: by default the private chat with the bot. */
export type Place = { from: TelegramUser; chat?: number; thread?: number; replyTo?: number; quote?: string };
type Formatted = { entities?: TelegramEntity[] };
type Caption = { caption?: string };
export type SentPart = FileToAdd & { kind: 'photo' | 'document'; width?: number; height?: number };

/** Actions of people in chats. Each creates the updates for the bot. */
export type People = {
  say(said: Place & Formatted & { text: string }): TelegramMessage;
  sendPhoto(sent: Place & Caption & FileToAdd & { width?: number; height?: number }): TelegramMessage;
  sendDocument(sent: Place & Caption & FileToAdd): TelegramMessage;
  /** Each part is a separate message and update; the first has the caption. */
  sendAlbum(sent: Place & Caption & { parts: readonly SentPart[] }): TelegramMessage[];
  sendVoice(sent: Place & Caption & { bytes: Uint8Array; duration?: number }): TelegramMessage;
  sendVideoNote(sent: Place & { bytes: Uint8Array; duration?: number }): TelegramMessage;
  sendSticker(sent: Place & { emoji: string; set?: string }): TelegramMessage;
  sendLocation(sent: Place & { latitude: number; longitude: number }): TelegramMessage;
  /** Any other content, in the fields of the Bot API. */
  send(sent: Place & { content: MessageContent & Record<string, unknown> }): TelegramMessage;
  edit(message: TelegramMessage, text: string): TelegramMessage;
  /** Deletes a message. Bots are not notified. */
  remove(message: TelegramMessage): void;
  /** No emoji removes the reaction. */
  react(message: TelegramMessage, from: TelegramUser, ...emoji: string[]): void;
  /** Presses a button by its text or its data; `answer`: the bot's answer to the press. @throws when there is no such button. */
  press(message: TelegramMessage, from: TelegramUser, button: string): Press;
};

export function createPeople(platform: Platform): People {
  const { bot, chats, files, updates, presses } = platform;
  let albums = 0;

  const send = ({ from, chat = from.id, thread, replyTo, quote }: Place, content: MessageContent): TelegramMessage => {
    const quoted = quote === undefined ? {} : { quote: { text: quote, position: 0, is_manual: true } };
    const { message } = chats.add({ chat, from, thread, replyTo, ...quoted, ...content });
    if (isSeen(platform, message)) updates.add('message', message);
    return structuredClone(message);
  };
  const captionOf = ({ caption }: Caption): MessageContent => {
    if (caption === undefined) return {};
    const { text, entities } = addFoundEntities({ text: caption, entities: [] });
    return { caption: text, ...(entities.length > 0 && { caption_entities: entities }) };
  };
  const textOf = (text: string, entities: TelegramEntity[] = []): MessageContent => {
    const found = addFoundEntities({ text, entities });
    return { text, ...(found.entities.length > 0 && { entities: found.entities }) };
  };
  const partOf = ({ kind, ...part }: SentPart): MessageContent =>
    kind === 'photo'
      ? { photo: toPhoto(files.add(part, 'photos'), part.width, part.height) }
      : { document: toDocument(files.add(part, 'documents')) };

  return {
    say: (said) => send(said, textOf(said.text, said.entities)),
    sendPhoto: (sent) => send(sent, { ...partOf({ ...sent, kind: 'photo' }), ...captionOf(sent) }),
    sendDocument: (sent) => send(sent, { ...partOf({ ...sent, kind: 'document' }), ...captionOf(sent) }),
    sendAlbum(sent) {
      const media_group_id = `1372${++albums}`;
      const captioned = (n: number) => (n === 0 ? captionOf(sent) : {});
      return sent.parts.map((part, n) => send(sent, { media_group_id, ...partOf(part), ...captioned(n) }));
    },
    sendVoice(sent) {
      const file = files.add({ name: 'voice.oga', mime: 'audio/ogg', bytes: sent.bytes }, 'voice');
      const voice = { ...toFileFields(file), duration: sent.duration ?? 3, mime_type: 'audio/ogg' };
      return send(sent, { voice, ...captionOf(sent) });
    },
    sendVideoNote(sent) {
      const file = files.add({ name: 'note.mp4', mime: 'video/mp4', bytes: sent.bytes }, 'video_notes');
      return send(sent, { video_note: { ...toFileFields(file), duration: sent.duration ?? 3, length: 240 } });
    },
    sendSticker(sent) {
      const file = files.add({ name: 'sticker.webp', mime: 'image/webp', bytes: Buffer.from('RIFF') }, 'stickers');
      const { emoji, set: set_name } = sent;
      const shape = { type: 'regular', width: 512, height: 512, is_animated: false, is_video: false };
      return send(sent, { sticker: { ...toFileFields(file), ...shape, emoji, ...(set_name !== undefined && { set_name }) } });
    },
    sendLocation: (sent) => send(sent, { location: { latitude: sent.latitude, longitude: sent.longitude } }),
    send: ({ content, ...place }) => send(place, content),
    edit(message, text) {
      const stored = find(message);
      const isCaption = stored.message.text === undefined;
      chats.rewrite(stored, isCaption ? captionOf({ caption: text }) : { entities: undefined, ...textOf(text) });
      if (isSeen(platform, stored.message)) updates.add('edited_message', stored.message);
      return structuredClone(stored.message);
    },
    remove: (message) => void (find(message).isDeleted = true),
    react(message, user, ...emoji) {
      const { reactions } = find(message);
      const typed = (list: readonly string[]) => list.map((one) => ({ type: 'emoji', emoji: one }));
      const old_reaction = typed(reactions.get(user.id) ?? []);
      reactions.set(user.id, emoji);
      const { chat, message_id } = message;
      const date = Math.floor(Date.now() / 1000);
      updates.add('message_reaction', { chat, message_id, user, date, old_reaction, new_reaction: typed(emoji) });
    },
    press(message, from, name) {
      const stored = find(message);
      const { text, callback_data: data } = buttonNamed(stored.message, name);
      if (data === undefined) throw new Error(`the button ${text} opens a link`);
      const press: Press = { id: `43${presses.size + 1}`, answer: null };
      presses.set(press.id, press);
      updates.add('callback_query', { id: press.id, from, message: stored.message, chat_instance: `ci${message.chat.id}`, data });
      return press;
    },
  };

  function find({ chat, message_id }: TelegramMessage) {
    const stored = chats.find(chat.id, message_id);
    if (stored === undefined) throw new Error(`there is no message ${message_id} in chat ${chat.id} of ${bot.user.username}`);
    return stored;
  }
}

function buttonNamed({ reply_markup }: TelegramMessage, name: string): InlineButton {
  const buttons = reply_markup?.inline_keyboard.flat() ?? [];
  const button = buttons.find(({ text, callback_data }) => text === name || callback_data === name);
  if (button === undefined) throw new Error(`no button ${name} among ${JSON.stringify(buttons.map(({ text }) => text))}`);
  return button;
}

/** With privacy mode on, a bot gets from groups only commands, mentions and replies to itself. */
function isSeen({ bot, chats }: Platform, message: TelegramMessage): boolean {
  const { chat, reply_to_message, text = message.caption ?? '' } = message;
  if (chats.state(chat.id).forbidden !== null && chat.type !== 'private') return false;
  if (chat.type === 'private' || bot.readsAllMessages) return true;
  return text.startsWith('/') || text.includes(`@${bot.user.username}`) || reply_to_message?.from.id === bot.user.id;
}
