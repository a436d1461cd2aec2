import type { REST } from '@discordjs/rest';
import {
  createChatGate,
  createReplyWriter,
  systemClock,
  type ChatGate,
  type Clock,
  type OutboundMessage,
  type ReplyStyle,
  type StartContext,
} from '@svc/connector-kit';
import { channelOf, type Outgoing as ChatroomOutgoing } from '../chatroom-deps.ts';
import { createChannelPlace } from './channel-place.ts';
import { createDiscordCall, type DiscordCall } from './discord-call.ts';
import { createReactions } from './reactions.ts';
import { createReplyPlatform } from './reply-platform.ts';
import { openSentMessages } from './sent-messages.ts';
import { toMessages } from './to-messages.ts';
import { createWriteMessage } from './write-message.ts';

export type OutgoingDeps = Pick<StartContext, 'state' | 'log' | 'signal'> & {
  uploads: Pick<StartContext['uploads'], 'open'>;
  rest: Pick<REST, 'request'>;
  /** The account that the bot speaks as. */
  bot: { id: string };
  /** Whether a channel is a private one; none unless given. */
  isPrivate?(channel: string): boolean;
  style?: ReplyStyle;
  hasReactions?: boolean;
  maxFileBytes?: number;
  clock?: Clock;
};

/** All that leaves for Discord. */
export type Outgoing = ChatroomOutgoing & { call: DiscordCall };

/** Discord says with each answer how much is left; this is what we ask for of our own accord. A long reply may begin with several messages at once. */
const pace = { perMs: 1000, burst: 4, allMs: 25 } as const;
/** What is no message has a pace of its own, ms. */
const signs = { perMs: 300, allMs: 25 } as const;
/** From one state of a growing reply to the next, ms. */
const liveEveryMs = 1500;
/** Discord shows for 10 s that a user writes. */
const typingEveryMs = 8000;
const longestUploadMs = 120_000;
/** Parsed at once; what is longer is cut before. */
const mostParsed = 16_000;
/** What every server takes, and private messages. */
export const usualFileBytes = 10 * 1024 * 1024;

export async function createOutgoing(deps: OutgoingDeps): Promise<Outgoing> {
  const { state, log, signal, uploads, rest, bot, style, clock = systemClock } = deps;
  const { isPrivate = () => false, maxFileBytes = usualFileBytes, hasReactions = true } = deps;
  const call = createDiscordCall(rest);
  const place = createChannelPlace(call);
  const sent = await openSentMessages(state, log);
  const signGate = createChatGate({ clock, ...signs });
  const messageGate = createChatGate({ clock, ...pace });
  const reactions = createReactions({ call, place, gate: signGate, log });
  const write = createWriteMessage({ call, place, sent, isPrivate });
  const writer = createReplyWriter({
    ...createReplyPlatform({ call, place, sent, bot, isPrivate, uploads, write, reactions, maxFileBytes }),
    state,
    log,
    signal,
    clock,
    limit: mostParsed,
    toMessages,
    gate: gateOf(messageGate, signGate),
    liveEveryMs: () => liveEveryMs,
    typingEveryMs,
    unsure: 'nonce',
    callMs: longestUploadMs,
    chatOf: channelOf,
    ...(style !== undefined && { style }),
  });
  return {
    openReply: hasReactions ? reactions.whileWorking(writer.openReply) : writer.openReply,
    send: (message, ended) => writer.send(withShortCaption(message), ended),
    saw: sent.saw,
    call,
  };
}

/** A caption that does not fit into the message of its file is a text before it. */
function withShortCaption(message: OutboundMessage): OutboundMessage {
  const { text, caption, ...rest } = message;
  if (caption === undefined || toMessages(caption).length <= 1) return message;
  return { ...rest, text: text === undefined ? caption : `${text}\n\n${caption}` };
}

/** That an answer is being written is no message, and does not hold one up. */
const gateOf = (messages: ChatGate, own: ChatGate): ChatGate => ({
  run: messages.run,
  offer: async (chat, write) => messages.pausedMs(chat) === 0 && own.offer(chat, write),
  pausedMs: messages.pausedMs,
});
