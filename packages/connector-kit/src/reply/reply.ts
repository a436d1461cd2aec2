import type { Clock } from '@svc/service-kit/clock.ts';
import { within } from '@svc/service-kit/within.ts';
import type { ReplyStyle } from '../common-fields.ts';
import type { StartContext, StreamHandlers } from '../connector.ts';
import type { ChatGate } from './chat-gate.ts';
import type { ChatOrder } from './chat-order.ts';
import { createLiveReply, type LiveEveryMs } from './live-reply.ts';
import type { FirstAfter, WhenGone } from './live-steps.ts';
import type { ReplyContent } from './reply-content.ts';
import type { Layout } from './reply-layout.ts';
import { createReplyAsks } from './reply-asks.ts';
import { createReplyMessages, type Unsure } from './reply-messages.ts';
import type { Earlier } from './reply-state.ts';
import type { ReplyPlatform } from './reply-platform.ts';
import type { ReplyRecords } from './reply-record.ts';
import { createReplyText } from './reply-text.ts';
import { createWorkText, type ShowWork, type WorkText } from './reply-work.ts';
import { settleReply, type Ending } from './settle-reply.ts';
import type { Typing, TypingTurn } from './typing.ts';

export type ReplyDeps = {
  platform: ReplyPlatform;
  records: ReplyRecords;
  gate: ChatGate;
  clock: Clock;
  log: StartContext['log'];
  layout(): Layout;
  order: ChatOrder;
  typing: Typing | null;
  style: ReplyStyle;
  showWork?: ShowWork;
  firstAfter: FirstAfter;
  unsure: Unsure;
  whenGone: WhenGone;
  liveEveryMs?: LiveEveryMs;
  mostLive?: number;
  withinMs: number;
  callMs: number;
  /** Resolves when nothing else writes this reply. */
  claim(name: string, reply: Reply): Promise<void>;
  release(name: string, reply: Reply): void;
};

/**
 * The turns of a conversation run one after the other, so the end of an earlier one is known after asking the core again. If that takes
 * longer than this, the later reply is shown first, ms.
 */
const longestBeforeMs = 20_000;

/** `answers`: the id of the answered message. `nameOf`: the name of the reply, once its turn is known or known to be missing. */
export type ReplyPlace = {
  chat: string;
  turn?: string;
  answers?: string;
  earlier: Earlier;
  /** Settles when the replies to earlier messages of its conversation have ended. */
  before?: Promise<void>;
  nameOf(turn: string | undefined): string;
};

export type Reply = {
  handlers: StreamHandlers;
  settle(content: ReplyContent, of: { turn: string; signal?: AbortSignal }): Promise<void>;
  /** Shows the typing indicator until the answer is shown. */
  works(): void;
  /** Keeps what is shown and adds the line below it; an answer may still replace it. */
  failWith(line: string): Promise<void>;
  /** Keeps what is shown: another caller finishes it. */
  leave(): Promise<void>;
  /** Resolves when nothing will be written any more. */
  stop(): Promise<void>;
};

export function createReply(deps: ReplyDeps, { chat, answers, earlier, before, nameOf, turn: known }: ReplyPlace): Reply {
  const { clock, gate, log, style, firstAfter, whenGone, platform, records, unsure, callMs } = deps;
  let turn = known;
  let name: string | null = null;
  let opening: Promise<void> | null = null;
  /** The finishing of the reply, from the moment that no reply comes before it in its chat. */
  let writing: Promise<void> | null = null;
  let typing: TypingTurn | null = null;
  const words = createReplyText(style);
  const work = deps.showWork === undefined ? null : createWorkText(words, deps.showWork);
  const text = work ?? words;
  const layout = deps.layout();
  const messages = createReplyMessages({ platform, records, clock, chat, unsure, callMs, after: answers });
  const onShown = () => typing?.shown();
  let inOrder: Promise<void> | null = null;
  let turnCame: Promise<unknown> | null = null;
  const first = (): Promise<unknown> =>
    (turnCame ??= before === undefined ? Promise.resolve() : within(before, longestBeforeMs, clock));
  const othersShown = (): Promise<void> => (inOrder ??= first().then(() => deps.order.earlier(chat)));
  const openInOrder = () => othersShown().then(open);
  const asks = createReplyAsks({ ...deps, chat, answers, layout: deps.layout(), inOrder: othersShown });

  const live = createLiveReply({
    clock,
    gate,
    chat,
    text,
    messages,
    layout,
    open: openInOrder,
    firstAfter,
    whenGone,
    liveEveryMs: deps.liveEveryMs,
    mostLive: deps.mostLive,
    answers,
    onShown,
    log,
  });

  function open(): Promise<void> {
    name ??= nameOf(turn);
    const as = name;
    return (opening ??= deps.claim(as, reply).then(() => messages.open(as, turn, earlier)));
  }

  async function rest(): Promise<void> {
    typing?.end();
    await live.stop();
  }

  async function end(ending: () => Promise<Ending>, signal?: AbortSignal): Promise<void> {
    // Waits before it joins the queue: the replies it waits for must not wait for it.
    await Promise.race([first(), aborted(signal)]);
    await deps.order.finish(chat, async (others) => {
      await rest();
      await Promise.race([others, aborted(signal)]);
      writing = settle(ending, signal).finally(() => {
        writing = null;
        opening = null; // another caller may now continue the reply
        if (name !== null) deps.release(name, reply);
      });
      await writing;
    });
  }

  async function settle(ending: () => Promise<Ending>, signal?: AbortSignal): Promise<void> {
    await open();
    const settling = { clock, gate, chat, messages, whenGone, answers, withinMs: deps.withinMs, log };
    await settleReply(settling, await ending(), signal);
  }

  const reply: Reply = {
    handlers: {
      onDelta(more) {
        text.add(more);
        if (style === 'stream') live.changed();
      },
      onSegment(block) {
        text.endBlock(block);
        if (style !== 'final') live.changed();
      },
      ...(work !== null && workHandlers(work, live.changed)),
      onAsk: asks.ask,
      onAsked: asks.asked,
      onRetract() {
        text.retract();
        live.retracted();
      },
    },
    works() {
      typing ??= deps.typing?.begin(chat) ?? null;
      if (work !== null) live.changed();
    },
    settle(content, of) {
      turn ??= of.turn;
      return end(async () => {
        const cuts = style === 'steps' ? cutsIn(content.text) : [];
        return { pieces: await layout.inTurns(content.text, cuts), cuts, extras: content.extras };
      }, of.signal);
    },
    failWith: (line) =>
      end(async () => {
        const whole = [words.visible().trim(), line].filter((part) => part !== '').join('\n\n');
        return { pieces: await layout.inTurns(whole, words.cuts()), cuts: words.cuts(), extras: [], isOpen: true };
      }),
    async leave() {
      await rest();
      if (name !== null) deps.release(name, reply);
    },
    async stop() {
      await rest();
      await writing?.catch(() => undefined); // whoever began it gets the error
      opening = null;
    },
  };
  return reply;

  /** Offsets in the final text at which a new message began while the reply grew. */
  function cutsIn(whole: string): readonly number[] {
    const cuts = words.cuts().length > 0 ? words.cuts() : messages.cuts();
    const said = words.whole().slice(0, cuts.at(-1) ?? 0);
    return said === '' || whole.startsWith(said) ? cuts : [];
  }
}

const workHandlers = (work: WorkText, changed: () => void): StreamHandlers => ({
  onThinking(more) {
    work.onThinking(more);
    changed();
  },
  onTool(tool) {
    work.onTool(tool);
    changed();
  },
  onToolResult(result) {
    work.onToolResult(result);
    changed();
  },
});

/** Rejects when nobody waits any longer. */
function aborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    const cut = () => reject(signal?.reason);
    if (signal?.aborted === true) cut();
    else signal?.addEventListener('abort', cut, { once: true });
  });
}
