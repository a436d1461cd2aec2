import { createChatGate, createReplyWriter, systemClock, type ReplyWriter, type StartContext } from '@svc/connector-kit';
import type { Config } from './meta.ts';
import type { TelegramApi } from './telegram-api.ts';

/** Replies as plain text, in the pace of private chats. */
export function createPlainOutgoing({ state, log, signal, config }: StartContext<Config>, api: TelegramApi): ReplyWriter {
  return createReplyWriter({
    state,
    log,
    signal,
    style: config.reply_style,
    limit: 4096,
    gate: createChatGate({ clock: systemClock, perMs: 1000, allMs: 34 }),
    async post({ chat, text, signal: ended }) {
      return String((await api.ask('sendMessage', { chat_id: chat, text }, ended)).message_id);
    },
    edit: ({ chat, id, text, signal: ended }) =>
      api.ask('editMessageText', { chat_id: chat, message_id: Number(id), text }, ended),
    typing: ({ chat, signal: ended }) => api.ask('sendChatAction', { chat_id: chat, action: 'typing' }, ended),
  });
}
