import { textOf, type Action, type HandleResult } from '@svc/contract/turn.ts';
import { backOffMs } from '@svc/service-kit/backoff.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { Events } from '../events.ts';
import type { TurnJournal } from '../turn/turn-journal.ts';
import type { Turn } from '../turn/turn.ts';
import { pushReply } from './delivery-of.ts';
import type { Route } from './delivery-store.ts';
import type { OpenReply } from './open-replies.ts';
import type { Outbox } from './outbox.ts';

/** A reply that was given to its caller, or will be. Without a route it cannot be pushed, only listed. */
type PendingAck = {
  turn: Turn;
  route: Route | null;
  actions: readonly Action[];
  text: string;
  /** How many callers have the reply and have not reported its delivery. */
  holders: number;
  /** What the timer waits for: a report on the delivery (`word`), or a caller that fetches the reply. */
  waitsFor: 'word' | 'caller';
  /** By the monotonic clock, ms. */
  since: number;
  /** How often it could not be put into the outbox. */
  failures: number;
  cancelTimer: () => void;
};

export type PendingAckDeps = {
  journal: Pick<TurnJournal, 'settle'>;
  outbox: Pick<Outbox, 'pushAll'>;
  events: Pick<Events, 'kept'>;
  clock: Clock;
  log: Pick<Log, 'error'>;
};
/** How long a caller that disconnected or crashed has to return for a reply before it is pushed. */
const graceMs = 5000;
/** A connector that has a reply and reports nothing about it for this long is faulty. */
const silenceMs = 10 * 60_000;
/** Pauses after a failed write to the database. */
const backOff = { firstMs: 1000, maxMs: 5 * 60_000 };

/** Most replies that wait at once, and characters of them and of the messages they answer. Beyond it, the oldest wait no longer. */
const usualLimits = { replies: 5000, chars: 64_000_000 };

const nobodyCame = 'no caller fetched the reply; sending the message again with the same message_id returns it';
const neverSaid = 'the connector received the reply but never confirmed its delivery';

const tooMany = 'too many replies are waiting for confirmation by their connectors; this one was the oldest';

const noTimer = () => undefined;

/** Replies that were made, and whose delivery no channel has confirmed yet. */
export interface PendingAcks {
  /** A reply was made that has to reach a channel, or that has no caller. */
  expect(turn: Turn, route: Route | null, result: HandleResult, isAttended: boolean): void;
  /** True while it is not known whether the turn's reply has reached its channel. */
  isExpected(turnId: string): boolean;
  /** The conversation of a turn whose reply is not confirmed yet; null for any other turn. */
  keyOf(turnId: string): string | null;
  /** The unconfirmed replies of a conversation. */
  openIn(conversationKey: string): OpenReply[];
  /** Calls the listener with the turn of each reply that was shown, or is in the outbox now. */
  onEnd(listener: (turnId: string) => void): void;
  /** A caller was given the reply, and will report its delivery, or be `abandoned`. */
  accepted(turnId: string): void;
  /** The channel shows the reply. Does nothing for other turns. */
  delivered(turnId: string): Promise<void>;
  /** The channel could not show it: it is pushed instead. */
  undelivered(turnId: string, error: string): Promise<void>;
  /** The caller that had `accepted` the reply disconnected before it reported the delivery. Another caller that has it may still do so. */
  abandoned(turnId: string): void;
  /** The caller had disconnected before it got the reply. Changes nothing when another caller has it. */
  callerGone(turnId: string): void;
  count(): number;
}

/**
 * Tracks a reply until it has reached its channel: the caller shows it and confirms that. Without a caller, or when it
 * reports a failure, the reply goes to the outbox. The journal keeps the turn open until one of the two is certain.
 */
export function createPendingAcks({ journal, outbox, events, clock, log }: PendingAckDeps, limits = usualLimits): PendingAcks {
  /** The oldest first. */
  const waiting = new Map<string, PendingAck>();
  let chars = 0;
  /** Replies on their way into the outbox. */
  const leaving = new Set<PendingAck>();
  let onEnd = (_turnId: string): void => undefined;

  const charsOf = ({ turn, text }: PendingAck) => text.length + turn.envelope.content.text.length;
  const add = (ack: PendingAck) => {
    remove(ack.turn.id);
    waiting.set(ack.turn.id, ack);
    chars += charsOf(ack);
  };
  const remove = (turnId: string) => {
    const ack = waiting.get(turnId);
    if (ack === undefined) return;
    waiting.delete(turnId);
    ack.cancelTimer();
    chars -= charsOf(ack);
  };

  async function push(ack: PendingAck, route: Route | null, error: string | null): Promise<void> {
    const { turn, actions } = ack;
    const isKept = turn.envelope.keeps === true;
    remove(turn.id);
    leaving.add(ack);
    try {
      if (isKept) await journal.settle(turn, 'replied');
      else await pushReply(outbox, { turn, actions, route, error }, (tx) => journal.settle(turn, 'replied', tx));
    } catch (fault) {
      leaving.delete(ack);
      waitAgain(ack, route, error);
      throw fault;
    }
    leaving.delete(ack);
    onEnd(turn.id);
    if (isKept) events.kept(turn);
  }

  /** A reply that could not be put into the outbox waits, and is pushed later. */
  function waitAgain(ack: PendingAck, route: Route | null, error: string | null): void {
    ack.failures++;
    add(ack);
    pushAfter(backOffMs(backOff, ack.failures), ack, route, error);
  }

  /** Until it is stored that a channel has a reply, the next start would send it again. */
  async function settleDelivered(turn: Turn, failures = 0): Promise<void> {
    try {
      await journal.settle(turn, 'delivered');
    } catch (fault) {
      const again = () => void settleDelivered(turn, failures + 1).catch(() => undefined);
      clock.after(backOffMs(backOff, failures + 1), again);
      throw fault;
    }
  }

  const pushOrLog = (ack: PendingAck, route: Route | null, error: string | null) =>
    void push(ack, route, error).catch((fault: unknown) =>
      log.error({ err: fault, turn: ack.turn.id }, 'a reply could not be put into the outbox'),
    );

  function pushAfter(ms: number, ack: PendingAck, route: Route | null, error: string | null): void {
    ack.cancelTimer();
    ack.cancelTimer = clock.after(ms, () => pushOrLog(ack, route, error));
  }

  /** Gives up the oldest, as if its time were over. */
  function makeRoom(): void {
    for (const ack of waiting.values()) {
      if (waiting.size <= limits.replies && chars <= limits.chars) return;
      if (ack.waitsFor === 'word') pushOrLog(ack, null, tooMany);
      else pushOrLog(ack, ack.route, ack.route === null ? nobodyCame : null);
    }
  }

  /** Gives the caller time to return. */
  const awaitCaller = (ack: PendingAck) => {
    ack.waitsFor = 'caller';
    pushAfter(graceMs, ack, ack.route, ack.route === null ? nobodyCame : null);
  };

  /** A caller has the reply. Silence alone no longer causes a push, or the channel might show it twice. */
  const awaitWord = (ack: PendingAck) => {
    ack.waitsFor = 'word';
    pushAfter(silenceMs, ack, null, neverSaid);
  };

  return {
    expect(turn: Turn, route: Route | null, result: HandleResult, isAttended: boolean): void {
      const ack: PendingAck = {
        turn,
        route,
        actions: result.actions,
        text: textOf(result.actions),
        holders: 0,
        waitsFor: 'word',
        since: clock.elapsed(),
        failures: 0,
        cancelTimer: noTimer,
      };
      add(ack);
      if (isAttended) awaitWord(ack);
      else awaitCaller(ack);
      makeRoom();
    },

    isExpected: (turnId: string): boolean => waiting.has(turnId),

    keyOf: (turnId: string): string | null => waiting.get(turnId)?.turn.envelope.conversation_key ?? null,

    openIn: (conversationKey) =>
      [...waiting.values(), ...leaving]
        .filter(({ turn }) => turn.envelope.conversation_key === conversationKey)
        .map(({ turn, since }) => ({ turnId: turn.id, turnSeq: turn.seq, since })),

    onEnd: (listener) => void (onEnd = listener),

    accepted(turnId: string): void {
      const ack = waiting.get(turnId);
      if (ack === undefined) return;
      ack.holders++;
      if (ack.waitsFor === 'caller') awaitWord(ack);
    },

    async delivered(turnId: string): Promise<void> {
      const ack = waiting.get(turnId);
      if (ack === undefined) return;
      remove(turnId);
      onEnd(turnId);
      await settleDelivered(ack.turn);
    },

    async undelivered(turnId: string, error: string): Promise<void> {
      const ack = waiting.get(turnId);
      if (ack !== undefined) await push(ack, ack.route, error);
    },

    abandoned(turnId: string): void {
      const ack = waiting.get(turnId);
      if (ack === undefined) return;
      ack.holders = Math.max(0, ack.holders - 1);
      if (ack.holders === 0) awaitCaller(ack);
    },

    callerGone(turnId: string): void {
      const ack = waiting.get(turnId);
      if (ack?.holders === 0) awaitCaller(ack);
    },

    count: () => waiting.size,
  };
}
