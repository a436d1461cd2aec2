import type { Clock } from '@svc/service-kit/clock.ts';
import { queueFull, ServiceError } from '@svc/service-kit/service-error.ts';
import { faultOf, pauseMsOf } from './write-fault.ts';

export type ChatGateOptions = {
  clock: Clock;
  /** Pause from the end of a write to a chat until the next one, ms; depends on the chat's id where chats differ. */
  perMs: number | ((chat: string) => number);
  /** Pause between two writes of the whole bot, ms. Default: none. */
  allMs?: number;
  /** How many writes that cannot wait may follow each other at once, where the platform allows it. Default: 1. */
  burst?: number;
  /** Counts the gate's creation as a write to each chat, because an earlier process may just have written. Default: off. */
  followsAnother?: boolean;
  /** Maximum number of chats kept. Past it, chats with no waiting writes are forgotten; if there are none, new chats are refused. */
  maxChats?: number;
};

export type WriteOptions = {
  /** Goes before others of its chat and may use the burst: for a text that a person waits for. */
  urgent?: boolean;
  /** Longest wait for its turn, ms. */
  withinMs?: number;
  /** How many messages the platform counts it as, such as an album in which each file counts. Default: 1. */
  writes?: number;
  /** Ends the wait; a write that has begun continues. */
  signal?: AbortSignal;
};

/** One pace for each chat and one for the whole bot. All writes to the platform go through it. */
export type ChatGate = {
  /**
   * Runs `write`, which must settle, when it is its turn: one at a time in each chat, with pauses. A write that rejects with `busy` closes
   * its chat for as long as the platform demands (`retry_after_s`; all chats with `global: true` in its details), and doubles the pause
   * unless its details say `keeps_pace: true`. Successful writes shorten the pause again. Rejects as `write` does, with `busy` when the
   * wait is too long, and with the reason of `signal`.
   */
  run<T>(chat: string, write: () => Promise<T>, options?: WriteOptions): Promise<T>;
  /** Like `run`, but only if it may go at once and nothing waits. False when it was left out. */
  offer(chat: string, write: () => Promise<unknown>): Promise<boolean>;
  /** How long the pause that the platform demanded for a chat still lasts, ms. */
  pausedMs(chat: string): number;
};

type Waiter = { urgent: boolean; go: () => void };
/** The writes to one chat. Times are by `clock.elapsed`. */
type Lane = {
  waiting: Waiter[];
  isWriting: boolean;
  /** Pause between writes, ms: the usual one, and the present one with penalties. */
  perMs: number;
  stepMs: number;
  /** When the next write may go: by the chat's pace, and by the platform's demand. */
  freeAt: number;
  pausedUntil: number;
  /** Successful writes since the last penalty, or since the pause was last halved. */
  good: number;
  /** The time reserved for it in the bot's pace. */
  slot: number | null;
  cancelTimer: () => void;
};

const never = Number.NEGATIVE_INFINITY;
/** Penalties multiply the pause by at most this factor. */
const mostSteps = 16;
/** This many successful writes halve a pause that was doubled once. The longer the pause, the fewer writes it takes. */
const goodToHalve = 10;
const maxWaiting = 100;
const noTimer = (): void => undefined;

export function createChatGate(options: ChatGateOptions): ChatGate {
  const { clock, perMs, allMs = 0, burst = 1, maxChats = 10_000, followsAnother = false } = options;
  const madeAt = followsAnother ? clock.elapsed() : never;
  const lanes = new Map<string, Lane>();
  let nextSlot = never;
  let allPausedUntil = never;

  function laneOf(chat: string): Lane {
    const known = lanes.get(chat);
    if (known !== undefined) return known;
    if (lanes.size >= maxChats) forgetIdle();
    if (lanes.size >= maxChats) throw queueFull(`${maxChats} chats are being written to at once. Try again in a moment.`);
    const stepMs = typeof perMs === 'number' ? perMs : perMs(chat);
    const lane: Lane = {
      waiting: [],
      isWriting: false,
      perMs: stepMs,
      freeAt: madeAt + stepMs,
      pausedUntil: never,
      stepMs,
      good: 0,
      slot: null,
      cancelTimer: noTimer,
    };
    lanes.set(chat, lane);
    return lane;
  }

  function forgetIdle(): void {
    const now = clock.elapsed();
    for (const [chat, lane] of lanes) {
      const isIdle = !lane.isWriting && lane.waiting.length === 0 && Math.max(lane.freeAt, lane.pausedUntil) <= now;
      if (isIdle) lanes.delete(chat);
    }
  }

  const pausedUntil = (lane: Lane) => Math.max(lane.pausedUntil, allPausedUntil);
  const readyAt = (lane: Lane, urgent: boolean) =>
    Math.max(pausedUntil(lane), lane.freeAt - (urgent ? (burst - 1) * lane.stepMs : 0));

  /** Starts the next write, or waits until it may start. */
  function advance(lane: Lane): void {
    lane.cancelTimer();
    lane.cancelTimer = noTimer;
    const next = lane.waiting.find(({ urgent }) => urgent) ?? lane.waiting[0];
    if (next === undefined) lane.slot = null;
    if (lane.isWriting || next === undefined) return;
    const waitMs = waitOf(lane, next);
    if (waitMs > 0) {
      lane.cancelTimer = clock.after(waitMs, () => advance(lane));
      return;
    }
    lane.slot = null;
    lane.isWriting = true;
    drop(lane, next);
    next.go();
  }

  function waitOf(lane: Lane, { urgent }: Waiter): number {
    const now = clock.elapsed();
    const at = readyAt(lane, urgent);
    // Only a write that can use it at once reserves a place in the bot's pace.
    lane.slot = at > now ? null : (lane.slot ?? keepSlot(now));
    return Math.max(at, lane.slot ?? at) - now;
  }

  function keepSlot(now: number): number {
    const slot = Math.max(now, nextSlot);
    nextSlot = slot + allMs;
    return slot;
  }

  /** Resolves when it is this write's turn. */
  function turn(lane: Lane, { urgent = false, withinMs = Infinity, signal }: WriteOptions): Promise<void> {
    return new Promise((resolve, reject) => {
      let cancelLimit = noTimer;
      const settle = (end: () => void) => {
        cancelLimit();
        signal?.removeEventListener('abort', cut);
        end();
      };
      const waiter: Waiter = { urgent, go: () => settle(resolve) };
      const giveUp = (reason: unknown) => {
        drop(lane, waiter);
        advance(lane);
        settle(() => reject(reason));
      };
      const cut = () => giveUp(signal?.reason);
      if (withinMs < Infinity)
        cancelLimit = clock.after(withinMs, () => giveUp(isPaused(readyAt(lane, urgent) - clock.elapsed())));
      signal?.addEventListener('abort', cut, { once: true });
      lane.waiting.push(waiter);
      advance(lane);
    });
  }

  function failed(lane: Lane, error: unknown): void {
    // Other faults say nothing about the pace.
    if (faultOf(error) !== 'pause') return;
    if (!keepsPace(error)) slowDown(lane);
    const until = clock.elapsed() + (pauseMsOf(error) ?? lane.stepMs);
    lane.pausedUntil = Math.max(lane.pausedUntil, until);
    if (isGlobal(error)) allPausedUntil = Math.max(allPausedUntil, until);
  }

  async function run<T>(chat: string, write: () => Promise<T>, options: WriteOptions = {}): Promise<T> {
    options.signal?.throwIfAborted();
    const lane = laneOf(chat);
    if (lane.waiting.length >= maxWaiting)
      throw queueFull(`${maxWaiting} messages are already waiting for this chat. Try again in a moment.`);
    const pauseMs = pausedUntil(lane) - clock.elapsed();
    if (pauseMs > (options.withinMs ?? Infinity)) throw isPaused(pauseMs);
    await turn(lane, options);
    const more = Math.max(0, (options.writes ?? 1) - 1);
    if (more > 0) nextSlot = Math.max(nextSlot, clock.elapsed()) + more * allMs;
    try {
      const value = await write();
      took(lane);
      return value;
    } catch (error) {
      failed(lane, error);
      throw error;
    } finally {
      lane.isWriting = false;
      // The additional messages count at the usual pace: the slowed one would keep the chat closed for many minutes.
      lane.freeAt = Math.max(lane.freeAt, clock.elapsed()) + lane.stepMs + more * lane.perMs;
      advance(lane);
    }
  }

  return {
    run,
    async offer(chat, write) {
      const lane = laneOf(chat);
      const now = clock.elapsed();
      const isFree = !lane.isWriting && lane.waiting.length === 0 && readyAt(lane, false) <= now && nextSlot <= now;
      if (isFree) await run(chat, write);
      return isFree;
    },
    pausedMs: (chat) => {
      const lane = lanes.get(chat);
      const until = lane === undefined ? allPausedUntil : pausedUntil(lane);
      return Math.max(0, until - clock.elapsed());
    },
  };
}

const drop = (lane: Lane, waiter: Waiter): void => void (lane.waiting = lane.waiting.filter((each) => each !== waiter));

/** A write succeeded: after several of them, a doubled pause is halved again. */
function took(lane: Lane): void {
  lane.good++;
  if (lane.good * lane.stepMs < goodToHalve * 2 * lane.perMs) return;
  lane.good = 0;
  lane.stepMs = Math.max(lane.perMs, lane.stepMs / 2);
}

/** The platform demanded a pause. */
function slowDown(lane: Lane): void {
  lane.good = 0;
  lane.stepMs = Math.min(lane.stepMs * 2, lane.perMs * mostSteps);
}

const isPaused = (pauseMs: number) =>
  new ServiceError('busy', 'The platform is limiting the rate of messages to this chat.', {
    details: { retry_after_s: Math.max(1, Math.ceil(pauseMs / 1000)) },
  });

const isGlobal = (error: unknown): boolean => says(error, 'global');
/** True for a pause that the pace did not cause: the platform is unreachable, or a chat has moved. */
const keepsPace = (error: unknown): boolean => says(error, 'keeps_pace');
const says = (error: unknown, name: string): boolean => error instanceof ServiceError && error.details[name] === true;
