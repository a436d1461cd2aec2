import { randomUUID } from 'node:crypto';
import { targetIn, type Envelope } from '@svc/contract/envelope.ts';
import type { About, OutboundMessage } from '@svc/contract/send.ts';
import { systemClock, type Clock } from '@svc/service-kit/clock.ts';
import { errorText, ServiceError } from '@svc/service-kit/service-error.ts';
import { within } from '@svc/service-kit/within.ts';
import type { ReplyStyle } from '../common-fields.ts';
import type { StartContext } from '../connector.ts';
import type { OpenReply } from '../ingress/lazy-reply.ts';
import type { ConnectorState } from '../state/state.ts';
import { createChatGate, type ChatGate } from './chat-gate.ts';
import { createChatOrder } from './chat-order.ts';
import { createReply, type Reply, type ReplyDeps } from './reply.ts';
import type { LiveEveryMs } from './live-reply.ts';
import type { FirstAfter, WhenGone } from './live-steps.ts';
import { contentOf, contentWithFiles, usualWords, type ReplyWords } from './reply-content.ts';
import { createLayout, type LayoutOptions } from './reply-layout.ts';
import type { Unsure } from './reply-messages.ts';
import type { ReplyFile, ReplyPlatform } from './reply-platform.ts';
import { createReplyRecords } from './reply-record.ts';
import type { ShowWork } from './reply-work.ts';
import { createTyping } from './typing.ts';

export type ReplyWriterOptions = ReplyPlatform &
  LayoutOptions & {
    state: ConnectorState;
    log: StartContext['log'];
    /** The pace of the platform. Default: one write a second to each chat. */
    gate?: ChatGate;
    /** Default: `stream`; usually `ctx.config.reply_style`. A platform without `edit` always gets complete texts. */
    style?: ReplyStyle;
    /** Default: 30 characters or a second. */
    firstAfter?: FirstAfter;
    /**
     * For platforms where edits are expensive, such as `(writes) => Math.min(5000 + writes * 500, 15_000)`. Default: the pace of the chat
     * alone.
     */
    liveEveryMs?: LiveEveryMs;
    /** Maximum number of writes of a growing reply, counted across restarts. Default: no limit, and no counting. */
    mostLive?: number;
    /** Default: `repeat`. */
    unsure?: Unsure;
    /** Default: `post`. */
    whenGone?: WhenGone;
    /** How often the typing indicator is shown again, ms: a little less than the platform shows it. Default: 4,000. */
    typingEveryMs?: number;
    words?: Partial<ReplyWords>;
    /** Chat for the answer to an envelope. Default: the one that the core pushes to: `channelId`, `chatId` or `target` of its context. */
    chatOf?(envelope: Envelope): string;
    /**
     * Renders a running turn with its thoughts and tools: posted as soon as the turn exists, and replaced by the answer. Default: only the
     * text, once there is some.
     */
    showWork?: ShowWork;
    /** Longest time without a successful write of a finished reply, ms; 60,000 by default. After that the core pushes the reply. */
    withinMs?: number;
    /** Timeout of one call to the platform, ms. Default: 20,000. */
    callMs?: number;
    /** `ctx.signal`: once it aborts, nothing more is shown of unfinished replies. */
    signal?: AbortSignal;
    clock?: Clock;
  };

export type ReplyWriter = {
  /** For the ingress. `fail` never rejects; when `finish` rejects, a push shows the missing parts. */
  openReply: OpenReply;
  /**
   * For `Outbound.send`: finishes the partly shown reply of a turn, or posts a message. May be called again, and continues where it
   * stopped.
   */
  send(message: OutboundMessage, signal: AbortSignal): Promise<void>;
};

/** Writes the replies of a channel: while they grow, when they are complete, after a crash, and when the core pushes them. */
export function createReplyWriter(options: ReplyWriterOptions): ReplyWriter {
  const { state, log, clock = systemClock, chatOf = targetOf } = options;
  const gate = options.gate ?? createChatGate({ clock, perMs: 1000 });
  const words: ReplyWords = { ...usualWords, ...options.words };
  createLayout(options); // throws now for options with which each reply would fail
  const records = createReplyRecords(state, clock, log);
  const typing = openTyping(options, gate, clock);
  const open = new Map<string, Reply>();
  const begun = new Set<BegunReply>();
  options.signal?.addEventListener(
    'abort',
    () => begun.forEach(({ reply, isEnding }) => (isEnding ? undefined : void reply.leave())),
    { once: true },
  );

  /** Resolves when the begun replies to other messages of a chat have ended, or after a while. */
  const earlierReplies = async (chat: string, answers: string | undefined): Promise<void> => {
    const others = [...begun].filter((each) => each.chat === chat && each.answers !== answers);
    const ended = Promise.all(others.map(({ ended: { promise } }) => promise));
    if (others.length > 0) await within(ended, longestBeforePushMs, clock);
  };

  /** Only one caller at a time writes a reply: a later one waits until the earlier one has stopped. */
  async function claim(name: string, reply: Reply): Promise<void> {
    const before = open.get(name);
    open.set(name, reply);
    if (before !== undefined && before !== reply) await before.stop();
  }
  const release = (name: string, reply: Reply): void => {
    if (open.get(name) === reply) open.delete(name);
  };

  const deps: ReplyDeps = {
    platform: options,
    records,
    gate,
    clock,
    log,
    layout: () => createLayout(options),
    order: createChatOrder(),
    typing,
    style: options.edit === undefined && options.style !== 'steps' ? 'final' : (options.style ?? 'stream'),
    showWork: options.showWork,
    firstAfter: options.firstAfter ?? (options.showWork === undefined ? { chars: 30, ms: 1000 } : { chars: 0, ms: 0 }),
    unsure: options.unsure ?? 'repeat',
    whenGone: options.whenGone ?? 'post',
    liveEveryMs: options.liveEveryMs,
    mostLive: options.mostLive,
    withinMs: options.withinMs ?? 60_000,
    callMs: options.callMs ?? 20_000,
    claim,
    release,
  };

  return {
    openReply(envelope, { turnId, again, before }) {
      const answers = envelope.message_id;
      const chat = chatOf(envelope);
      const reply = createReply(deps, {
        chat,
        before,
        turn: turnId ?? undefined,
        answers,
        earlier: again ? 'other' : 'nothing',
        nameOf: (turn) => nameOf(chat, turn, answers),
      });
      const entry: BegunReply = { reply, chat, answers, isEnding: false, ended: Promise.withResolvers() };
      begun.add(entry);
      reply.works();
      const end = async (work: () => Promise<void>): Promise<void> => {
        entry.isEnding = true;
        try {
          await work();
        } finally {
          begun.delete(entry);
          entry.ended.resolve();
        }
      };
      return {
        handlers: reply.handlers,
        finish: (result) =>
          end(async () => {
            if (result.outcome === 'delivered') return reply.leave();
            await reply.settle(contentOf(result, { platform: options, words, answers }), { turn: result.turn_id });
          }),
        fail: (error) =>
          end(async () => {
            const line = words.failed(error);
            if (line === null) return reply.leave();
            try {
              await reply.failWith(line);
            } catch (fault) {
              log('warn', 'the failure of a turn could not be shown', { error: errorText(fault) });
            }
          }),
      };
    },

    async send(message, signal) {
      const { id, target: chat, about, text = '' } = message;
      const answers = about?.message_id;
      const name = about === undefined ? `out ${id}` : nameOf(chat, about.turn_id, answers);
      const earlier = about === undefined ? 'same' : 'other';
      const before = about === undefined ? undefined : earlierReplies(chat, answers);
      const reply = createReply(deps, { chat, turn: about?.turn_id ?? id, answers, earlier, before, nameOf: () => name });
      if (message.path !== undefined && options.file === undefined)
        throw new ServiceError('unprocessable', 'This channel does not accept files.');
      const files = message.path === undefined ? [] : [fileOf(message)];
      const content = contentWithFiles(text, files, { platform: options });
      await reply.settle(content, { turn: about?.turn_id ?? id, signal });
    },
  };
}

/** A reply that has not ended. */
type BegunReply = {
  reply: Reply;
  chat: string;
  answers: string | undefined;
  isEnding: boolean;
  ended: PromiseWithResolvers<void>;
};

/** The reply to an earlier message may be half shown, and the core waits 9 s for a push, ms. */
const longestBeforePushMs = 5_000;

const fileOf = ({ path = '', caption, kind }: OutboundMessage): ReplyFile => ({
  path,
  name: path.slice(path.lastIndexOf('/') + 1),
  kind,
  ...(caption !== undefined && { caption }),
});

/** A reply is identified by the message it answers, which is known before its turn; without one, by its turn. */
const nameOf = (chat: string, turn: About['turn_id'] | undefined, message: string | undefined): string =>
  JSON.stringify(message === undefined ? ['turn', turn ?? randomUUID()] : ['message', chat, message]);

function targetOf({ channel_context }: Envelope): string {
  const target = targetIn(channel_context);
  if (target !== null) return target;
  throw new Error('An envelope names no chat in its channel_context; give the reply writer "chatOf".');
}

function openTyping({ typing, typingEveryMs = 4000, log, callMs = 20_000 }: ReplyWriterOptions, gate: ChatGate, clock: Clock) {
  if (typing === undefined) return null;
  const post = (chat: string) => typing({ chat, signal: AbortSignal.timeout(callMs) });
  return createTyping({ clock, gate, post, everyMs: typingEveryMs, log });
}
