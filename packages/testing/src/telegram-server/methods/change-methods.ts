import { badRequest, type InlineKeyboard, type TelegramMessage } from '../api-types.ts';
import type { StoredMessage } from '../create-chats.ts';
import type { Methods, Platform, SentText } from './method-table.ts';
import { readCaption, readText } from './read-text.ts';
import { readKeyboard } from './send-methods.ts';

type Place = { chat_id: number | string; message_id: number };
type Edit = Place & { reply_markup?: unknown };

export const changeMethods: Methods = {
  editMessageText(platform, call) {
    const params = call.params as Edit & SentText;
    const { text, entities } = readText(platform, params);
    const stored = toEdit(platform, params);
    if (stored.message.text === undefined) throw badRequest('there is no text in the message to edit');
    return edit(platform, stored, { text, entities: entities.length > 0 ? entities : undefined, ...keyboardOf(params) });
  },
  editMessageCaption(platform, call) {
    const params = call.params as Edit & { caption?: string; parse_mode?: string; caption_entities?: [] };
    const { caption, caption_entities } = readCaption(platform, params);
    const stored = toEdit(platform, params);
    return edit(platform, stored, { caption, caption_entities, ...keyboardOf(params) });
  },
  editMessageReplyMarkup: (platform, call) => {
    const params = call.params as Edit;
    return edit(platform, toEdit(platform, params), keyboardOf(params));
  },
  deleteMessage(platform, call) {
    remove(platform, call.params as Place, false);
    return true;
  },
  deleteMessages(platform, call) {
    const { chat_id, message_ids } = call.params as { chat_id: number; message_ids: number[] };
    for (const message_id of message_ids) remove(platform, { chat_id, message_id }, true);
    return true;
  },
  setMessageReaction({ bot, chats, description }, call) {
    const { chat_id, message_id, reaction = [] } = call.params as Place & { reaction?: { type: string; emoji?: string }[] };
    const stored = chats.find(chats.writable(chat_id).chat.id, message_id);
    if (stored === undefined) throw badRequest('message to react not found');
    const emoji = reaction.map((one) => one.emoji ?? '');
    if (emoji.some((one) => !description.reactions.has(one))) throw badRequest('REACTION_INVALID');
    if (emoji.length > 1) throw badRequest('REACTIONS_TOO_MANY');
    stored.reactions.set(bot.user.id, emoji);
    return true;
  },
  answerCallbackQuery({ presses }, call) {
    const { callback_query_id, text, show_alert } = call.params as {
      callback_query_id: string;
      text?: string;
      show_alert?: boolean;
    };
    const press = presses.get(callback_query_id);
    if (press === undefined || press.answer !== null)
      throw badRequest('query is too old and response timeout expired or query ID is invalid');
    if ((text ?? '').length > 200) throw badRequest('MESSAGE_TOO_LONG');
    press.answer = { ...(text !== undefined && { text }), ...(show_alert !== undefined && { show_alert }) };
    return true;
  },
};

const keyboardOf = ({ reply_markup }: Edit): { reply_markup: InlineKeyboard | undefined } => ({
  reply_markup: readKeyboard(reply_markup),
});

function toEdit({ bot, chats }: Platform, { chat_id, message_id }: Place): StoredMessage {
  const { chat } = chats.writable(chat_id);
  const stored = chats.find(chat.id, message_id);
  if (stored === undefined) throw badRequest('message to edit not found');
  if (stored.message.from.id !== bot.user.id) throw badRequest("message can't be edited");
  return stored;
}

/** A missing keyboard is removed. */
function edit({ chats, limits }: Platform, stored: StoredMessage, changes: Partial<TelegramMessage>): TelegramMessage {
  const isSame = Object.entries(changes).every(
    ([name, value]) => JSON.stringify(stored.message[name as keyof TelegramMessage]) === JSON.stringify(value),
  );
  limits.take(stored.message.chat, 1);
  if (isSame)
    throw badRequest(
      'message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message',
    );
  chats.rewrite(stored, changes);
  return stored.message;
}

function remove({ bot, chats }: Platform, { chat_id, message_id }: Place, isOneOfMany: boolean): void {
  const { chat } = chats.writable(chat_id);
  const stored = chats.find(chat.id, message_id);
  if (stored === undefined && isOneOfMany) return;
  if (stored === undefined) throw badRequest('message to delete not found');
  const mayDelete = chat.type === 'private' || stored.message.from.id === bot.user.id;
  if (!mayDelete) throw badRequest("message can't be deleted");
  stored.isDeleted = true;
}
