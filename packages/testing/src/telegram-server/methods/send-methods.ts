import { attached } from '../read-call.ts';
import { badRequest, type ApiCall, type InlineKeyboard, type MessageContent, type TelegramMessage } from '../api-types.ts';
import { toDocument, toFileFields, toPhoto, type StoredFile } from '../create-files.ts';
import type { Captioned, FileParam, Methods, Platform, SentText, Target } from './method-table.ts';
import { readCaption, readText } from './read-text.ts';

const maxPhotoBytes = 10 * 1024 * 1024;
const maxFileBytes = 50 * 1024 * 1024;

export const sendMethods: Methods = {
  sendMessage(platform, call) {
    const params = call.params as Target & SentText;
    const { text, entities } = readText(platform, params);
    return send(platform, params, { text, ...(entities.length > 0 && { entities }) });
  },
  sendPhoto: (platform, call) => {
    const params = call.params as Captioned & { photo: FileParam };
    return sendFile(platform, params, photoContent(platform.files.sent(params.photo, 'photos')));
  },
  sendDocument: (platform, call) => {
    const params = call.params as Captioned & { document: FileParam };
    return sendFile(platform, params, documentContent(platform.files.sent(params.document, 'documents')));
  },
  sendVoice: (platform, call) => {
    const params = call.params as Captioned & { voice: FileParam; duration?: number };
    const file = platform.files.sent(params.voice, 'voice');
    const voice = { ...toFileFields(file), duration: params.duration ?? 1, mime_type: file.mime };
    return sendFile(platform, params, { voice });
  },
  sendMediaGroup(platform, call) {
    const params = call.params as Target & { media: SentMedia[] };
    const contents = params.media.map((media) => mediaContent(platform, media, call));
    if (contents.length < 2 || contents.length > 10) throw badRequest('there must be from 2 to 10 media to send in an album');
    const kinds = new Set(params.media.map(({ type }) => (type === 'document' ? type : 'photo or video')));
    if (kinds.size > 1) throw badRequest("document can't be mixed with other media types");
    return sendAll(platform, params, contents);
  },
  sendChatAction({ chats }, call) {
    const { chat_id, message_thread_id, action } = call.params as Target & { action: string };
    if (!actions.has(action)) throw badRequest('wrong parameter action in request');
    chats.writable(chat_id, message_thread_id).actions.push(action);
    return true;
  },
  sendMessageDraft(platform, call) {
    const params = call.params as Target & SentText & { draft_id: number };
    const { chat, drafts } = platform.chats.writable(params.chat_id, params.message_thread_id);
    if (chat.type !== 'private') throw badRequest('TEXTDRAFT_PEER_INVALID');
    if (params.draft_id === 0) throw badRequest('draft_id must be non-zero');
    drafts.set(params.draft_id, (params.text ?? '') === '' ? '' : readText(platform, params).text);
    return true;
  },
};

const actions = new Set(
  `typing upload_photo record_video upload_video record_voice upload_voice upload_document choose_sticker find_location
   record_video_note upload_video_note`.split(/\s+/),
);

type SentMedia = { type: string; media: string; caption?: string; parse_mode?: string; caption_entities?: [] };

function mediaContent(platform: Platform, { type, media, ...caption }: SentMedia, { files }: ApiCall): MessageContent {
  const sent = media.startsWith('attach://') ? attached(media, files) : media;
  const file = platform.files.sent(sent, `${type}s`);
  return { ...(type === 'photo' ? photoContent(file) : documentContent(file)), ...readCaption(platform, caption) };
}

function photoContent(file: StoredFile): MessageContent {
  if (file.size > maxPhotoBytes) throw badRequest('file is too big for a photo; PHOTO_INVALID_DIMENSIONS or too big');
  return { photo: toPhoto(file) };
}

function documentContent(file: StoredFile): MessageContent {
  if (file.size > maxFileBytes) throw badRequest('file is too big');
  return { document: toDocument(file) };
}

const sendFile = (platform: Platform, params: Captioned, content: MessageContent) =>
  send(platform, params, { ...content, ...readCaption(platform, params) });

const send = (platform: Platform, target: Target, content: MessageContent) => sendAll(platform, target, [content])[0];

let albums = 0;

function sendAll({ bot, chats, limits }: Platform, target: Target, contents: readonly MessageContent[]): TelegramMessage[] {
  const { chat, drafts } = chats.writable(target.chat_id, target.message_thread_id);
  const replyTo = repliedTo(chats, chat.id, target);
  const keyboard = readKeyboard(target.reply_markup);
  limits.take(chat, contents.length);
  drafts.clear();
  const album = contents.length > 1 ? { media_group_id: `1382${++albums}` } : {};
  const quote = target.reply_parameters?.quote;
  return contents.map((content) => {
    const fields = { ...content, ...album, ...(quote !== undefined && { quote: { text: quote, position: 0, is_manual: true } }) };
    const where = { chat: chat.id, from: bot.user, thread: target.message_thread_id, replyTo, keyboard };
    return chats.add({ ...where, ...fields }).message;
  });
}

function repliedTo(chats: Platform['chats'], chat: number, { reply_parameters: reply }: Target): number | undefined {
  if (reply === undefined) return undefined;
  const stored = chats.find(chat, reply.message_id);
  if (stored === undefined && reply.allow_sending_without_reply !== true) throw badRequest('message to be replied not found');
  const { text = '', caption = '' } = stored?.message ?? {};
  const isQuoted = reply.quote === undefined || `${text}${caption}`.includes(reply.quote);
  if (!isQuoted) throw badRequest('QUOTE_TEXT_INVALID');
  return stored?.message.message_id;
}

/** Inline buttons; other keyboards are not kept. @throws ApiError */
export function readKeyboard(markup: unknown): InlineKeyboard | undefined {
  const rows = (markup as Partial<InlineKeyboard> | undefined)?.inline_keyboard;
  const buttons = rows?.flat() ?? [];
  if (buttons.length > 100) throw badRequest('reply markup is too long');
  for (const { text, callback_data, url } of buttons) {
    if (text.trim() === '') throw badRequest('can\'t parse inline keyboard button: Field "text" must be non-empty');
    const bytes = Buffer.byteLength(callback_data ?? '');
    if (callback_data !== undefined && (bytes === 0 || bytes > 64)) throw badRequest('BUTTON_DATA_INVALID');
    if (callback_data === undefined && url === undefined)
      throw badRequest("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard");
  }
  return rows === undefined || buttons.length === 0 ? undefined : { inline_keyboard: rows };
}
