import type { HandleResult } from '@svc/contract/turn.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { TurnJournal } from '../turn/turn-journal.ts';
import type { Turn } from '../turn/turn.ts';
import { deliveryOf, replyText } from './delivery-of.ts';
import type { Route } from './delivery-store.ts';
import type { Outbox } from './outbox.ts';

/** A reply that was, or is to be, given to its caller. Without a route it cannot be pushed, only listed. */
type Handover = {
  turn: Turn;
  route: Route | null;
  text: string;
  /** How many have the reply and have not said what became of it. */
  holders: number;
  /** What the timer waits for: a word on what became of the reply, or a caller who comes for it. */
  waitsFor: 'word' | 'caller';
  cancelTimer: () => void;
};

export type HandoverDeps = {
  journal: Pick<TurnJournal, 'settle'>;
  outbox: Pick<Outbox, 'push'>;
  clock: Clock;
  log: Pick<Log, 'error'>;
};
export type Handovers = ReturnType<typeof createHandovers>;

/** How long a caller that lost its connection, or crashed, has to come back for a reply before it is pushed. */
const graceMs = 5000;
/** A connector that has a reply and says nothing of it for this long has a fault. */
const silenceMs = 10 * 60_000;

/** What may wait at a time: replies, and characters of them and of what they answer. Past it the oldest wait no longer. */
const usualLimits = { replies: 5000, chars: 64_000_000 };

const nobodyCame = 'nobody came for the answer; whoever sends the message again, with the same message_id, gets it';
const neverSaid = 'the connector has the reply and never said what became of it';

const tooMany = 'too many replies wait for a word of their connectors; this one was the oldest';

const noTimer = () => undefined;

/**
 * Between a reply and its channel: who asked for it shows it and says so. When nobody is there, or says that it
 * could not be shown, the reply goes to the outbox. The journal keeps it open until one of the two is sure.
 */
export function createHandovers({ journal, outbox, clock, log }: HandoverDeps, limits = usualLimits) {
  /** The oldest first. */
  const waiting = new Map<string, Handover>();
  let chars = 0;

  const charsOf = ({ turn, text }: Handover) => text.length + turn.envelope.content.text.length;
  const add = (handover: Handover) => {
    remove(handover.turn.id);
    waiting.set(handover.turn.id, handover);
    chars += charsOf(handover);
  };
  const remove = (turnId: string) => {
    const handover = waiting.get(turnId);
    if (handover === undefined) return;
    waiting.delete(turnId);
    handover.cancelTimer();
    chars -= charsOf(handover);
  };

  async function push(handover: Handover, route: Route | null, error: string | null): Promise<void> {
    const { turn, text } = handover;
    remove(turn.id);
    await Promise.all([outbox.push({ ...deliveryOf(turn, text), route, error }), journal.settle(turn, 'replied')]);
  }

  const pushOrLog = (handover: Handover, route: Route | null, error: string | null) =>
    void push(handover, route, error).catch((fault: unknown) =>
      log.error({ err: fault, turn: handover.turn.id }, 'a reply could not be put into the outbox'),
    );

  function pushAfter(ms: number, handover: Handover, route: Route | null, error: string | null): void {
    handover.cancelTimer();
    handover.cancelTimer = clock.after(ms, () => pushOrLog(handover, route, error));
  }

  /** As if the time of the oldest had run out. */
  function makeRoom(): void {
    for (const handover of waiting.values()) {
      if (waiting.size <= limits.replies && chars <= limits.chars) return;
      if (handover.waitsFor === 'word') pushOrLog(handover, null, tooMany);
      else pushOrLog(handover, handover.route, handover.route === null ? nobodyCame : null);
    }
  }

  /** Gives the caller time to come back. */
  const awaitCaller = (handover: Handover) => {
    handover.waitsFor = 'caller';
    pushAfter(graceMs, handover, handover.route, handover.route === null ? nobodyCame : null);
  };

  /** A caller has the reply. It is not pushed any more on mere silence, or the channel might show it twice. */
  const awaitWord = (handover: Handover) => {
    handover.waitsFor = 'word';
    pushAfter(silenceMs, handover, null, neverSaid);
  };

  return {
    /** A reply has been made that has to reach a channel, or that nobody is there for. */
    expect(turn: Turn, route: Route | null, result: HandleResult, isAttended: boolean): void {
      const handover: Handover = { turn, route, text: replyText(result), holders: 0, waitsFor: 'word', cancelTimer: noTimer };
      add(handover);
      if (isAttended) awaitWord(handover);
      else awaitCaller(handover);
      makeRoom();
    },

    /** True while it is not known whether the turn's reply has reached its channel. */
    isExpected: (turnId: string): boolean => waiting.has(turnId),

    /** A caller was given the reply, and says what becomes of it, or is `abandoned`. */
    taken(turnId: string): void {
      const handover = waiting.get(turnId);
      if (handover === undefined) return;
      handover.holders++;
      if (handover.waitsFor === 'caller') awaitWord(handover);
    },

    /** The channel shows the reply. Nothing for turns that are not waited for. */
    async delivered(turnId: string): Promise<void> {
      const handover = waiting.get(turnId);
      if (handover === undefined) return;
      remove(turnId);
      await journal.settle(handover.turn, 'delivered');
    },

    /** The channel could not show it: it is pushed instead. */
    async undelivered(turnId: string, error: string): Promise<void> {
      const handover = waiting.get(turnId);
      if (handover !== undefined) await push(handover, handover.route, error);
    },

    /** Whoever had `taken` the reply went away before saying what became of it. Another caller who has it may still say. */
    abandoned(turnId: string): void {
      const handover = waiting.get(turnId);
      if (handover === undefined) return;
      handover.holders = Math.max(0, handover.holders - 1);
      if (handover.holders === 0) awaitCaller(handover);
    },

    /** Whoever asked was gone before the reply could be given. Nothing changes where another caller has it. */
    missed(turnId: string): void {
      const handover = waiting.get(turnId);
      if (handover?.holders === 0) awaitCaller(handover);
    },

    count: () => waiting.size,
  };
}
