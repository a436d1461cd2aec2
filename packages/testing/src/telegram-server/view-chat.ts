import type { InlineButton, TelegramEntity, TelegramMessage } from './api-types.ts';
import type { Chats, StoredMessage } from './create-chats.ts';

/** A message as a person sees it. */
export type SeenMessage = {
  id: number;
  from: string;
  isBot: boolean;
  /** Text or caption, as it is now. */
  text: string;
  entities: TelegramEntity[];
  thread: number | undefined;
  /** Id of the message that it answers. */
  replyTo: number | undefined;
  /** Its content besides text: `photo`, `document`, … */
  kinds: string[];
  fileId: string | undefined;
  album: string | undefined;
  buttons: InlineButton[];
  /** All reactions, in order. */
  reactions: string[];
  /** Its earlier texts. */
  before: string[];
  isDeleted: boolean;
};

const kinds = ['photo', 'document', 'voice', 'video_note', 'sticker', 'location'] as const;

/** All messages of a chat in order, including deleted ones. */
export const viewChat = (chats: Chats, chat: number): SeenMessage[] => [...chats.state(chat).messages.values()].map(toSeen);

function toSeen({ message, versions, isDeleted, reactions }: StoredMessage): SeenMessage {
  const { from, text, caption, entities, caption_entities, reply_to_message: replied } = message;
  const thread = message.is_topic_message === true ? message.message_thread_id : undefined;
  return {
    id: message.message_id,
    from: from.first_name,
    isBot: from.is_bot,
    text: text ?? caption ?? '',
    entities: entities ?? caption_entities ?? [],
    thread,
    // In a topic, a message without a reply is a reply to the message that opened it.
    replyTo: replied?.message_id === thread ? undefined : replied?.message_id,
    kinds: kinds.filter((kind) => message[kind] !== undefined),
    fileId: fileIdOf(message),
    album: message.media_group_id,
    buttons: message.reply_markup?.inline_keyboard.flat() ?? [],
    reactions: [...reactions.values()].flat(),
    before: versions.map((version) => version.text ?? version.caption ?? ''),
    isDeleted,
  };
}

const fileIdOf = ({ photo, document, voice, video_note, sticker }: TelegramMessage): string | undefined =>
  (photo?.at(-1) ?? document ?? voice ?? video_note ?? sticker)?.file_id;
