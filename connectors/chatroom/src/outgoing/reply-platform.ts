import { takeLongCode, type ReplyPlatform, type StartContext } from '@svc/connector-kit';
import { Routes } from 'discord-api-types/v10';
import { askButtons } from './ask-buttons.ts';
import { createFindLost, type FindLostDeps } from './find-lost.ts';
import type { Reactions } from './reactions.ts';
import { createFileSender } from './send-files.ts';
import { callsNobody, type WriteMessage } from './write-message.ts';

export type ReplyPlatformDeps = FindLostDeps & {
  uploads: Pick<StartContext['uploads'], 'open'>;
  write: WriteMessage;
  reactions: Pick<Reactions, 'set'>;
  maxFileBytes: number;
};

/** Code that would fill about one message is sent as a file. */
const longestCode = 1800;

/** What Discord can do with the bot's messages. */
export function createReplyPlatform(deps: ReplyPlatformDeps): ReplyPlatform {
  const { call, place, write, reactions } = deps;
  const routeOf = async (chat: string, id: string, signal: AbortSignal) => Routes.channelMessage(await place(chat, signal), id);

  return {
    ...createFileSender(deps),
    attach: (text) => takeLongCode(text, longestCode),
    post: ({ text, ...message }) => write({ ...message, fields: { content: text } }),
    find: createFindLost(deps),
    async edit({ chat, id, text, signal }) {
      const body = { ...callsNobody, content: text, components: [] };
      await call('PATCH', await routeOf(chat, id, signal), { body }, signal);
    },
    remove: async ({ chat, id, signal }) => call('DELETE', await routeOf(chat, id, signal), {}, signal),
    typing: async ({ chat, signal }) => call('POST', Routes.channelTyping(await place(chat, signal)), {}, signal),
    ask: ({ ask, text, ...message }) => write({ ...message, fields: { content: text, components: askButtons(ask) } }),
    /** An emoji that cannot be a reaction is posted as a message, because it may be the whole answer. */
    async react({ to, emoji, ...at }) {
      if (await reactions.set(at.chat, to, emoji, at.signal)) return;
      await write({ ...at, answers: to, fields: { content: emoji } });
    },
  };
}
