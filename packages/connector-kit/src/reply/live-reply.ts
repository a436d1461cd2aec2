import { backOffMs } from '@svc/service-kit/backoff.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import type { StartContext } from '../connector.ts';
import type { ChatGate } from './chat-gate.ts';
import type { Layout } from './reply-layout.ts';
import type { Paced } from './reply-platform.ts';
import type { ReplyMessages } from './reply-messages.ts';
import type { ReplyText } from './reply-text.ts';
import { faultOf, pauseMsOf } from './write-fault.ts';

/** The first message comes with so many characters, or so long after the first of them: a notification shows real words. */
export type FirstAfter = { chars: number; ms: number };
/** What happens to a reply whose message was removed: it is posted again, or ends without a word. */
export type WhenGone = 'post' | 'end';

/** Least time from one write of a growing reply to the next, after so many of them, ms; null when it is not shown until it is whole. */
export type LiveEveryMs = (writes: number, chat: string) => number | null;

export type LiveDeps = {
  clock: Clock;
  gate: ChatGate;
  chat: string;
  text: ReplyText;
  messages: ReplyMessages;
  layout: Layout;
  /** Makes the messages ready; rejects never. */
  open(): Promise<void>;
  firstAfter: FirstAfter;
  whenGone: WhenGone;
  liveEveryMs?: LiveEveryMs;
  mostLive?: number;
  answers?: string;
  /** Something was shown. */
  onShown(): void;
  log: StartContext['log'];
};

/** Shows a reply while it grows: one write at a time, always the newest text. */
export type LiveReply = {
  /** There is more text. */
  changed(): void;
  /** What was said was taken back. */
  retracted(): void;
  /** Nothing is written any more when it resolves. */
  stop(): Promise<void>;
};

/** A text that was taken back goes away after this, unless there is another by then. */
const takeBackMs = 1000;
/** Longer texts are not shown again at every step; they come when they are whole. */
const maxChars = 60_000;
/** Platforms show a draft for half a minute. */
const draftAgainMs = 20_000;
/** After so many faults in a row only the whole text is tried. */
const maxFaults = 4;
const faultPause = { firstMs: 1000, maxMs: 16_000 };
/** Who removes a message this often does not want it. */
export const maxRounds = 8;

export function createLiveReply(deps: LiveDeps): LiveReply {
  const { clock, gate, chat, text, messages, layout, firstAfter, mostLive = Infinity } = deps;
  const stopping = new AbortController();
  let running: Promise<void> | null = null;
  let isAsked = false;
  let cancelTimer = noTimer;
  let faults = 0;
  let writes = 0;
  let isEnough = false;
  /** What a platform with drafts shows of the message to come; null where it has none. */
  let drafted: string | null = messages.canDraft() ? '' : null;
  let draftedAt = Number.NEGATIVE_INFINITY;
  let notBefore = Number.NEGATIVE_INFINITY;
  /** Messages before it are full and left alone. */
  let current = 0;
  let since: { first: number | null; emptied: number | null } = { first: null, emptied: null };

  const isOver = () =>
    stopping.signal.aborted || isEnough || faults >= maxFaults || messages.isDone() || messages.rounds() > maxRounds;

  function wake(ms: number): void {
    cancelTimer();
    cancelTimer = clock.after(ms, start);
  }

  function start(): void {
    if (running !== null || isOver()) return;
    cancelTimer();
    const pauseMs = notBefore - clock.elapsed();
    if (pauseMs > 0) return wake(pauseMs);
    isAsked = false;
    running = run().finally(() => {
      running = null;
      if (isAsked) start();
    });
  }

  async function run(): Promise<void> {
    while (!isOver()) {
      try {
        await deps.open();
        if (messages.liveWrites() >= mostLive) return;
        const waitMs = waitFor();
        const search = nextSearch();
        if (waitMs === null || (search === null && next() === null)) return keepDraft();
        if (waitMs > 0) return wake(waitMs);
        if (notBefore > clock.elapsed()) return wake(notBefore - clock.elapsed());
        if (search === null) await paced(writeNext);
        else await search();
        faults = 0;
        takeTime();
      } catch (error) {
        if (stopping.signal.aborted) return;
        deps.log('debug', 'a reply could not be shown as it grew', { error: errorText(error), faults });
        return takeFault(error);
      }
    }
  }

  const paced: Paced = (write) => gate.run(chat, write, { signal: stopping.signal });

  async function writeNext(): Promise<void> {
    const write = next();
    if (write === null) return;
    if (mostLive !== Infinity) await messages.countLive();
    await write();
  }

  /** What has to be found before more is written; it keeps the pace by itself. Null when nothing has. */
  function nextSearch(): (() => Promise<void>) | null {
    const pieces = layout(text.visible(), text.cuts());
    const piece = pieces[messages.count()];
    if (messages.doomed() > 0) return null;
    if (pieces.length === 0 && since.emptied !== null && messages.hasStray()) return () => messages.findStray(paced);
    if (piece === undefined || isDraft(pieces) || !messages.mustFind()) return null;
    return () => messages.find(piece, { paced, answers: deps.answers });
  }

  function takeTime(): void {
    const everyMs = deps.liveEveryMs === undefined ? 0 : deps.liveEveryMs(Math.max(++writes, messages.liveWrites()), chat);
    if (everyMs === null) isEnough = true;
    else notBefore = clock.elapsed() + everyMs;
  }

  function takeFault(error: unknown): void {
    const fault = faultOf(error);
    if (fault !== 'pause') faults = fault === 'unknown' ? faults + 1 : maxFaults;
    const pauseMs = pauseMsOf(error) ?? backOffMs(faultPause, faults + 1);
    notBefore = clock.elapsed() + pauseMs;
    wake(pauseMs);
  }

  /** Ms until what there is may be shown; null while there is nothing to be done. */
  function waitFor(): number | null {
    const now = clock.elapsed();
    if (messages.doomed() > 0) return 0;
    if (text.isBlank()) return since.emptied === null ? null : Math.max(0, since.emptied + takeBackMs - now);
    since.first ??= now;
    const isLong =
      text.cuts().length > 0 || text.size() > 2 * firstAfter.chars || text.visible().trim().length >= firstAfter.chars;
    if (messages.count() > 0 || isLong) return 0;
    return Math.max(0, since.first + firstAfter.ms - now);
  }

  /** The write that brings what is shown nearer to the text; null when there is none. */
  function next(): (() => Promise<void>) | null {
    if (isOver() || text.size() > maxChars) return null;
    if (messages.doomed() > 0) return () => messages.removeOne();
    const pieces = layout(text.visible(), text.cuts());
    if (pieces.length === 0) return takeBackStep();
    while (current < messages.count() && current < pieces.length) {
      const index = current;
      const piece = pieces[index] ?? '';
      if (messages.canEdit(index) && !messages.shows(index, piece)) return () => edit(index, piece);
      if (pieces.length === index + 1) return null;
      current++;
    }
    const piece = pieces[messages.count()];
    if (piece === undefined) return null;
    if (piece === drafted && clock.elapsed() - draftedAt < draftAgainMs) return null;
    return isDraft(pieces) ? () => draft(piece) : () => post(piece);
  }

  /** The last message is shown as a draft, where drafts are to be had. */
  function isDraft(pieces: readonly string[]): boolean {
    return drafted !== null && messages.count() === pieces.length - 1 && text.cuts().length === 0;
  }

  /** A draft goes away by itself: while a tool works it is shown again. */
  function keepDraft(): void {
    const leftMs = draftedAt + draftAgainMs - clock.elapsed();
    if (drafted !== null && drafted !== '' && leftMs > 0) wake(leftMs);
  }

  /** Nothing is posted before it is whole, where drafts are to be had. */
  async function draft(piece: string): Promise<void> {
    drafted = (await messages.draft(piece)) ? piece : null;
    draftedAt = clock.elapsed();
    if (drafted === null) await post(piece);
    else deps.onShown();
  }

  function takeBackStep(): (() => Promise<void>) | null {
    if (since.emptied === null) return null;
    return messages.count() > 0 ? takeBack : null;
  }

  async function post(piece: string): Promise<void> {
    await messages.post(piece, { isFinal: text.cuts().length > 0, cuts: text.cuts(), answers: deps.answers });
    deps.onShown();
  }

  async function edit(index: number, piece: string): Promise<void> {
    try {
      await messages.edit(index, piece);
      deps.onShown();
    } catch (error) {
      if (faultOf(error) !== 'gone') throw error;
      await messages.giveUp(index, { isGone: true });
      if (deps.whenGone === 'end') await messages.finish();
    }
  }

  async function takeBack(): Promise<void> {
    await messages.giveUp(0, { isGone: false });
    since = { first: null, emptied: null };
    if (messages.doomed() > 0) await messages.removeOne();
  }

  function changed(): void {
    isAsked = true;
    if (running === null) queueMicrotask(start);
  }

  return {
    changed,
    retracted() {
      since = { first: null, emptied: clock.elapsed() };
      current = 0;
      changed();
    },
    async stop() {
      stopping.abort();
      cancelTimer();
      await running;
    },
  };
}

const noTimer = (): void => undefined;
