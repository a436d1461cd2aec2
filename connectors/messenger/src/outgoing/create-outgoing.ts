import {
  createChatGate,
  createReplyWriter,
  systemClock,
  type ChatGate,
  type Clock,
  type Envelope,
  type OpenReply,
  type OutboundMessage,
  type ReplyWriter,
  type StartContext,
} from '@svc/connector-kit';
import type { Api } from 'grammy';
import { createBotCall, type BotCall } from './bot-call.ts';
import { chatOf, isPrivate, toMessageId } from './chat-place.ts';
import { openChatMoves, type ChatMoves } from './chat-moves.ts';
import { createReactions } from './reactions.ts';
import { createReplyPlatform } from './reply-platform.ts';
import { openSentMessages } from './sent-messages.ts';
import { maxCaption, packMessage, toMessages } from './to-messages.ts';
import { createWriteParams } from './write-params.ts';

export type OutgoingDeps = Pick<StartContext, 'state' | 'log' | 'signal'> & {
  uploads: Pick<StartContext['uploads'], 'open'>;
  raw: Api['raw'];
  style?: 'stream' | 'steps' | 'final';
  hasDrafts?: boolean;
  hasReactions?: boolean;
  /** Telegram's own servers accept 50 MB, a private server 2000. */
  maxFileBytes?: number;
  clock?: Clock;
};

/** The outgoing side. */
export type Outgoing = ReplyWriter & {
  call: BotCall;
  moves: ChatMoves;
  /** A message with this id was received. */
  saw(chat: string, id: number): void;
};

/** Pauses between writes, ms: a message a second in each chat, 20 a minute in each group, 30 a second in total. */
const pace = { private: 1000, group: 3000, all: 34 } as const;
/** Interval of updates of a growing reply, ms. */
const liveEvery = { private: 1500, group: 4000 } as const;
/** The separate pace of writes that are not messages, ms. */
const signs = { perMs: 500, allMs: 50 } as const;

const mb = 1024 * 1024;
const longestUploadMs = 120_000;
/** Maximum length that is parsed at once; a longer text is cut first. */
const mostParsed = 16_000;

export async function createOutgoing(deps: OutgoingDeps): Promise<Outgoing> {
  const { state, log, signal, uploads, raw, style, clock = systemClock } = deps;
  const moves = await openChatMoves(state, log);
  const call = createBotCall(raw, moves);
  const kindOf = (chat: string) => (isPrivate(chat) ? 'private' : 'group');
  const signGate = createChatGate({ clock, ...signs });
  // Telegram counts a group's messages of the last minute, whichever process sent them.
  const messageGate = createChatGate({ clock, followsAnother: true, perMs: (chat) => pace[kindOf(chat)], allMs: pace.all });
  const reactions = createReactions({ call, gate: signGate, log });
  const sent = await openSentMessages(state, log);
  const write = createWriteParams(sent.newestIn);
  const { maxFileBytes = 50 * mb, hasDrafts = true, hasReactions = true } = deps;
  const writer = createReplyWriter({
    ...createReplyPlatform({ call, uploads, write, reactions, sent, maxFileBytes, hasDrafts }),
    state,
    log,
    signal,
    clock,
    limit: mostParsed,
    toMessages: (markdown) => toMessages(markdown).map(packMessage),
    gate: gateOf(messageGate, signGate),
    liveEveryMs: (_, chat) => liveEvery[kindOf(chat)],
    unsure: 'repeat',
    callMs: longestUploadMs,
    chatOf: targetOf,
    ...(style !== undefined && { style }),
  });
  const begin: OpenReply = (envelope, turn) => {
    if (envelope.message_id !== undefined) sent.saw(chatOf(targetOf(envelope)), toMessageId(envelope.message_id));
    return writer.openReply(envelope, turn);
  };
  const openReply = hasReactions ? reactions.whileWorking(begin, targetOf) : begin;
  return { openReply, send: (message, ended) => writer.send(withShortCaption(message), ended), call, moves, saw: sent.saw };
}

/** A caption that is too long for its file is sent as a text before it. */
function withShortCaption(message: OutboundMessage): OutboundMessage {
  const { text, caption, ...rest } = message;
  if (caption === undefined || toMessages(caption, maxCaption).length <= 1) return message;
  return { ...rest, text: text === undefined ? caption : `${text}\n\n${caption}` };
}

/** Topics share the pace of their chat. The typing indicator is not a message, and must not delay one. */
const gateOf = (messages: ChatGate, signs: ChatGate): ChatGate => ({
  run: (chat, write, options) => messages.run(chatOf(chat), write, options),
  offer: async (chat, write) => messages.pausedMs(chatOf(chat)) === 0 && signs.offer(chatOf(chat), write),
  pausedMs: (chat) => messages.pausedMs(chatOf(chat)),
});

function targetOf({ channel_context }: Envelope): string {
  const target = channel_context?.['chatId'] ?? channel_context?.['channelId'] ?? channel_context?.['target'];
  if (typeof target === 'string' || typeof target === 'number') return String(target);
  throw new Error('An envelope names no chat in its channel_context.');
}
