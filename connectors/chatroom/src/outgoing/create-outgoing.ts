import type { REST } from '@discordjs/rest';
import { createChatGate, createReplyWriter, splitMessage, systemClock, type StartContext } from '@svc/connector-kit';
import { Routes, type RESTPostAPIChannelMessageResult } from 'discord-api-types/v10';
import { channelOf, type Outgoing } from '../chatroom-deps.ts';
import { isId } from '../incoming/read-event.ts';
import { toDiscordFault } from '../incoming/discord-fault.ts';

export type OutgoingDeps = Pick<StartContext, 'state' | 'log' | 'signal'> & {
  rest: REST;
  style?: 'stream' | 'steps' | 'final';
  hasReactions?: boolean;
};

const limit = 2000;

/** All that leaves for Discord. */
export async function createOutgoing({ rest, state, log, signal, style }: OutgoingDeps): Promise<Outgoing> {
  const ask = async <T>(work: Promise<unknown>): Promise<T> => {
    try {
      return (await work) as T;
    } catch (error) {
      throw toDiscordFault(error);
    }
  };
  const silent = { allowed_mentions: { parse: [] } };
  const writer = createReplyWriter({
    state,
    log,
    signal,
    ...(style !== undefined && { style }),
    limit,
    toMessages: (text) => splitMessage(text, limit),
    gate: createChatGate({ clock: systemClock, perMs: 1000, allMs: 25 }),
    unsure: 'nonce',
    chatOf: channelOf,
    typingEveryMs: 8000,
    async post({ chat, text, nonce, answers, signal: within }) {
      const message_reference =
        answers === undefined || !isId(answers) ? {} : { message_reference: { message_id: answers, fail_if_not_exists: false } };
      const body = { content: text, nonce, enforce_nonce: true, ...silent, ...message_reference };
      const posted = ask<RESTPostAPIChannelMessageResult>(rest.post(Routes.channelMessages(chat), { body, signal: within }));
      return (await posted).id;
    },
    edit: ({ chat, id, text, signal: within }) =>
      ask(rest.patch(Routes.channelMessage(chat, id), { body: { content: text, ...silent }, signal: within })),
    remove: ({ chat, id, signal: within }) => ask(rest.delete(Routes.channelMessage(chat, id), { signal: within })),
    typing: ({ chat, signal: within }) => ask(rest.post(Routes.channelTyping(chat), { signal: within })),
  });
  return { openReply: writer.openReply, send: writer.send, saw: () => undefined };
}
