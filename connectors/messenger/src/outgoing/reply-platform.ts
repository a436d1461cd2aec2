import { ServiceError, takeLongCode, type Place, type ReplyPlatform, type StartContext } from '@svc/connector-kit';
import { askKeyboard } from './ask-buttons.ts';
import type { BotCall } from './bot-call.ts';
import { chatOf, toMessageId } from './chat-place.ts';
import { createDrafts } from './drafts.ts';
import { isReaction, type Reactions } from './reactions.ts';
import { createFileSender } from './send-files.ts';
import { createFindLost } from './find-lost.ts';
import type { SentMessages } from './sent-messages.ts';
import { isNotModified } from './to-fault.ts';
import { unpackMessage } from './to-messages.ts';
import { placeOf, type WriteParams } from './write-params.ts';

export type ReplyPlatformDeps = {
  call: BotCall;
  uploads: Pick<StartContext['uploads'], 'open'>;
  write: WriteParams;
  reactions: Pick<Reactions, 'set' | 'reach'>;
  sent: SentMessages;
  maxFileBytes: number;
  hasDrafts: boolean;
};

/** Code that would fill about one message is sent as a file. */
const longestCode = 3500;
/** Link previews are suppressed: while a reply grows, they would appear and disappear. */
const noPreview = { link_preview_options: { is_disabled: true } };

/** What Telegram can do with the bot's messages. */
export function createReplyPlatform(deps: ReplyPlatformDeps): ReplyPlatform {
  const { call, write, reactions, sent } = deps;
  const at = (chat: string, id: string) => ({ chat_id: chatOf(chat), message_id: toMessageId(id) });
  const send = async ({ chat, nonce, signal }: Place & { nonce: string | null }, params: object): Promise<string> => {
    const { message_id: id } = await call<{ message_id: number }>('sendMessage', { ...noPreview, ...params }, signal);
    await sent.note(chatOf(chat), [id], nonce);
    return String(id);
  };

  return {
    ...createFileSender(deps),
    ...(deps.hasDrafts && { draft: createDrafts(call) }),
    attach: (text) => takeLongCode(text, longestCode),
    post: ({ text, ...message }) => send(message, { ...write(message), ...unpackMessage(text) }),
    find: createFindLost({ call, sent, exists: reactions.reach }),
    async edit({ chat, id, text, signal }) {
      const params = { ...at(chat, id), ...noPreview, ...unpackMessage(text) };
      await call('editMessageText', params, signal).catch(unless(isNotModified));
    },
    remove: ({ chat, id, signal }) => call('deleteMessage', at(chat, id), signal),
    typing: ({ chat, signal }) => call('sendChatAction', { ...placeOf(chat), action: 'typing' }, signal),
    ask: ({ ask, text, ...message }) =>
      send(message, { ...write(message), ...unpackMessage(text), reply_markup: askKeyboard(ask) }),
    /** An emoji that cannot be a reaction is posted as a message, because it may be the whole answer. */
    async react({ to, emoji, ...place }) {
      if (isReaction(emoji) && (await reactions.set(place.chat, to, emoji, place.signal))) return;
      await send({ ...place, nonce: null }, { ...write({ ...place, answers: to }), text: emoji });
    },
  };
}

const unless =
  (isFine: (error: unknown) => boolean) =>
  (error: unknown): void => {
    if (!(error instanceof ServiceError) || !isFine(error)) throw error;
  };
