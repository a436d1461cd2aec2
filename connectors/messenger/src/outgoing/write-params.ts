import { ServiceError } from '@svc/connector-kit';
import { chatOf, isPrivate, toChatPlace, toMessageId } from './chat-place.ts';

/** The Bot API parameters for a write's target and the message that it answers. */
export type WriteParams = (write: { chat: string; answers?: string }) => Record<string, unknown>;

/**
 * In a room, a reply references the message that it answers; in a private chat, only when there are newer messages. `newest`: the id of the
 * last received message in a chat, if known. @throws ServiceError for an invalid target
 */
export const createWriteParams =
  (newest: (chat: string) => number | undefined): WriteParams =>
  ({ chat, answers }) => {
    const place = placeOf(chat);
    const id = answers === undefined ? 0 : toMessageId(answers);
    const isQuoted = id > 0 && (!isPrivate(chat) || (newest(chatOf(chat)) ?? id) > id);
    return { ...place, ...(isQuoted && { reply_parameters: { message_id: id, allow_sending_without_reply: true } }) };
  };

export function placeOf(target: string) {
  const place = toChatPlace(target);
  if (place !== null) return place;
  throw new ServiceError(
    'unprocessable',
    `"${target}" is not a Telegram chat. Use its ID, or its ID and topic, such as -1001234:56.`,
  );
}
