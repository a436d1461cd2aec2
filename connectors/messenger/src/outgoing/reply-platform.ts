import { ServiceError, type ReplyPlatform, type StartContext } from '@svc/connector-kit';
import { askKeyboard } from './ask-buttons.ts';
import type { BotCall } from './bot-call.ts';
import { chatOf, toMessageId } from './chat-place.ts';
import { createDrafts } from './drafts.ts';
import { takeLongCode } from './long-code.ts';
import { isReaction, type Reactions } from './reactions.ts';
import { createFileSender } from './send-files.ts';
import { isNotModified } from './to-fault.ts';
import { unpackMessage } from './to-messages.ts';
import { placeOf, type WriteParams } from './write-params.ts';

export type ReplyPlatformDeps = {
  call: BotCall;
  uploads: Pick<StartContext['uploads'], 'open'>;
  write: WriteParams;
  reactions: Pick<Reactions, 'set'>;
  maxFileBytes: number;
  hasDrafts: boolean;
};

/** A page that a text names is not shown below it: while a reply grows it would come and go. */
const noPreview = { link_preview_options: { is_disabled: true } };

/** What Telegram can do with the bot's messages. */
export function createReplyPlatform(deps: ReplyPlatformDeps): ReplyPlatform {
  const { call, write, reactions } = deps;
  const at = (chat: string, id: string) => ({ chat_id: chatOf(chat), message_id: toMessageId(id) });
  const send = async (params: object, signal: AbortSignal): Promise<string> =>
    String((await call<{ message_id: number }>('sendMessage', { ...noPreview, ...params }, signal)).message_id);

  return {
    ...createFileSender(deps),
    ...(deps.hasDrafts && { draft: createDrafts(call) }),
    attach: takeLongCode,
    post: ({ text, signal, ...target }) => send({ ...write(target), ...unpackMessage(text) }, signal),
    async edit({ chat, id, text, signal }) {
      const params = { ...at(chat, id), ...noPreview, ...unpackMessage(text) };
      await call('editMessageText', params, signal).catch(unless(isNotModified));
    },
    remove: ({ chat, id, signal }) => call('deleteMessage', at(chat, id), signal),
    typing: ({ chat, signal }) => call('sendChatAction', { ...placeOf(chat), action: 'typing' }, signal),
    ask: ({ ask, text, signal, ...target }) =>
      send({ ...write(target), ...unpackMessage(text), reply_markup: askKeyboard(ask) }, signal),
    /** What cannot be a reaction is a message: it may be all that is said. */
    async react({ chat, to, emoji, signal }) {
      if (isReaction(emoji) && (await reactions.set(chat, to, emoji, signal))) return;
      await send({ ...write({ chat, answers: to }), text: emoji }, signal);
    },
  };
}

const unless =
  (isFine: (error: unknown) => boolean) =>
  (error: unknown): void => {
    if (!(error instanceof ServiceError) || !isFine(error)) throw error;
  };
