import { ServiceError, type ReplyPlatform } from '@svc/connector-kit';
import type { PlatformApi } from './platform-api.ts';

/** What the platform can do with the bot's messages. */
export function createReplyPlatform({ ask }: PlatformApi, { findsNonces }: { findsNonces: boolean }): ReplyPlatform {
  const at = (chat: string, rest: string) => `/chats/${encodeURIComponent(chat)}/${rest}`;
  return {
    async post({ chat, text, nonce, answers, signal }) {
      const body = { text, nonce, ...(answers !== undefined && { reply_to: answers }) };
      return (await ask<{ id: string }>('POST', at(chat, 'messages'), { body, signal })).id;
    },
    async edit({ chat, id, text, signal }) {
      await ask('PATCH', at(chat, `messages/${id}`), { body: { text }, signal }).catch(unlessSame);
    },
    /** The id of a button consists of its question and its answer. */
    async ask({ chat, ask: question, text, nonce, answers, signal }) {
      const buttons = question.options.map(({ id, label }) => ({ id: `${question.id} ${id}`, label }));
      const body = { text, nonce, buttons, ...(answers !== undefined && { reply_to: answers }) };
      return (await ask<{ id: string }>('POST', at(chat, 'messages'), { body, signal })).id;
    },
    remove: ({ chat, id, signal }) => ask('DELETE', at(chat, `messages/${id}`), { signal }),
    ...(findsNonces && {
      async find({ chat, nonce, signal }) {
        const path = at(chat, `messages?nonce=${encodeURIComponent(nonce)}`);
        const { messages } = await ask<{ messages: { id: string }[] }>('GET', path, { signal });
        return messages[0]?.id ?? null;
      },
    }),
    typing: ({ chat, signal }) => ask('POST', at(chat, 'typing'), { signal }),
    react: ({ chat, to, emoji, signal }) => ask('PUT', at(chat, `messages/${to}/reaction`), { body: { emoji }, signal }),
  };
}

function unlessSame(error: unknown): void {
  if (error instanceof ServiceError && error.details['error'] === 'not_modified') return;
  throw error;
}
