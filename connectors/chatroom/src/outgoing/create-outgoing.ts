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
  /** The bot's account. */
  bot: { id: string };
  /** Whether a channel is a private chat. Default: none is. */
  isPrivate?(channel: string): boolean;
  style?: ReplyStyle;
  hasReactions?: boolean;
  maxFileBytes?: number;
  clock?: Clock;
};

/** The outgoing side. */
export type Outgoing = ChatroomOutgoing & { call: DiscordCall };

/** Our own pace; Discord's answers also report how much is left. A long reply may begin with several messages at once. */
const pace = { perMs: 1000, burst: 4, allMs: 25 } as const;
/** The separate pace of writes that are not messages, ms. */
const signs = { perMs: 300, allMs: 25 } as const;
/** Interval of updates of a growing reply, ms. */
const liveEveryMs = 1500;
/** Discord shows the typing indicator for 10 s; it is repeated earlier, ms. */
const typingEveryMs = 8000;
const longestUploadMs = 120_000;
/** Maximum length that is parsed at once; a longer text is cut first. */
const mostParsed = 16_000;
/** Maximum file size that every server and private chat accepts. */
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
    posted: (channel, id) => sent.note(channel, id, null),
    call,
  };
}

/** A caption that is too long for the message of its file is sent as a text before it. */
function withShortCaption(message: OutboundMessage): OutboundMessage {
  const { text, caption, ...rest } = message;
  if (caption === undefined || toMessages(caption).length <= 1) return message;
  return { ...rest, text: text === undefined ? caption : `${text}\n\n${caption}` };
}

/** The typing indicator is not a message, and must not delay one. */
const gateOf = (messages: ChatGate, own: ChatGate): ChatGate => ({
  run: messages.run,
  offer: async (chat, write) => messages.pausedMs(chat) === 0 && own.offer(chat, write),
  pausedMs: messages.pausedMs,
});
