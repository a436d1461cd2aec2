import type { Amendment, AmendResult } from '@svc/contract/amend.ts';
import type { Envelope } from '@svc/contract/envelope.ts';
import type { InjectAnswer } from '@svc/contract/session.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import { createInTurnByKey } from '@svc/service-kit/in-turn-by-key.ts';
import { conflict } from '@svc/service-kit/service-error.ts';
import { amend } from './amend/amend.ts';
import { createPendingAcks, type PendingAcks } from '../delivery/pending-acks.ts';
import { abortTurn } from './abort-turn.ts';
import { handleEnvelope } from './handle-envelope.ts';
import { inject, type Injection } from './inject.ts';
import { createBotTurns } from './bot-turns.ts';
import { createLiveTurns, type LiveTurns } from './live-turns.ts';
import { createMessageBatches } from './message-batches.ts';
import { recoverTurns } from './recover-turns.ts';
import { runJournaledTurn, type RunLiveTurn } from './run-journaled-turn.ts';
import type { PipelineParts, TurnDeps } from './turn-deps.ts';
import { createTurnActions, type TurnActions } from './turn-actions.ts';
import { createTurnHold, type TurnHold } from './turn-hold.ts';
import { createTurnQueue, type TurnQueue } from './turn-queue.ts';
import type { Watcher } from '../watch/watch-types.ts';
import type { Caller } from './turn.ts';

const amendLimits = { ofKey: 64, all: 1000, what: 'changes of messages' };

/** The pipeline of all turns through the core, and the state of those that are in it. */
export type Pipeline = {
  /**
   * Handles one envelope from any caller; see `handleEnvelope`.
   * @throws ServiceError `bad_request`, `conflict`, `queue_full`, `unavailable`, a `turn_…` or an `engine_…` code.
   */
  handle(envelope: Envelope, caller: Caller, requestId: string): Promise<HandleResult>;
  /** Runs an operator's text as the next turn of a session. @throws ServiceError `not_found`, `conflict`, or what a turn throws. */
  inject(injection: Injection, caller: Caller, requestId: string): Promise<InjectAnswer>;
  /** Takes the edit or the deletion of a message; see `amend`. @throws ServiceError `queue_full`, `unavailable` */
  amend(amendment: Amendment, requestId: string): Promise<AmendResult>;
  /** Ends what is in flight in a conversation. False when nothing is. */
  abort(conversationKey: string): boolean;
  /** Resumes what the last process left open. To be called once, before other requests are accepted. */
  recover(lastEnd?: { isDeadly?: boolean }): Promise<void>;
  stateOf: TurnQueue['stateOf'];
  /** True while a turn of the conversation runs or waits, or its messages are being gathered. */
  isBusy(conversationKey: string): boolean;
  /**
   * Runs `work` while no turn of the conversation runs. Messages that arrive meanwhile are accepted, and their turns wait.
   * @throws ServiceError `conflict` while it is busy, `unavailable` on shutdown.
   */
  whileIdle<T>(conversationKey: string, work: () => Promise<T>): Promise<T>;
  /** True while this message's turn is between its acceptance and its end. */
  isLive(conversationKey: string, messageId: string): boolean;
  /** A turn between its acceptance and its end, by its id. */
  liveTurn: LiveTurns['byId'];
  /** Shows a conversation to a watcher; see `SessionWatches.add`. */
  watch(conversationKey: string, watcher: Watcher, after: number | null): () => void;
  counts: TurnQueue['counts'];
  /** How many turns are between acceptance and end, including those that are gathered or answered at once. */
  liveCount(): number;
  /** Files and reactions of running turns. */
  turnActions: TurnActions;
  /** The replies whose delivery is not confirmed yet. */
  pendingAcks: PendingAcks;
  /** Makes turns that have not begun wait; see `TurnHold`. */
  holdFor: TurnHold['holdFor'];
  isClosed(): boolean;
  /** Refuses waiting turns, lets running ones finish until the deadline, then aborts them. Turns that have not ended stay in the journal. */
  close(deadlineMs: number): Promise<void>;
};

export function createPipeline(deps: TurnDeps): Pipeline {
  const { settings, clock, journal } = deps;
  const turnQueue = createTurnQueue({ slots: settings.maxConcurrentTurns, maxWaiting: settings.maxQueuedTurns }, clock);
  const liveTurns = createLiveTurns({ db: deps.db, watches: deps.watches, isClosed: turnQueue.isClosed });
  const batches = createMessageBatches({
    journal,
    turnQueue,
    clock,
    run: (live, ticket) => run(live, ticket),
  });
  const parts: PipelineParts = {
    ...deps,
    turnQueue,
    liveTurns,
    batches,
    botTurns: createBotTurns(settings.maxBotTurns),
    turnActions: createTurnActions(deps),
    pendingAcks: createPendingAcks(deps),
  };
  const run: RunLiveTurn = (live, ticket, given) => runJournaledTurn(parts, live, ticket, given);
  const entry = { ...parts, run };
  const inTurn = createInTurnByKey(amendLimits);
  const isBusy = (key: string) => turnQueue.stateOf(key) !== 'idle' || batches.has(key);
  return {
    handle: (envelope, caller, requestId) => handleEnvelope(entry, envelope, caller, requestId),
    inject: (injection, caller, requestId) => inject(entry, injection, caller, requestId),
    amend: (amendment, requestId) => inTurn(amendment.conversation_key, () => amend(entry, amendment, requestId)),
    abort: (conversationKey) => abortTurn(parts, conversationKey),
    async recover(lastEnd) {
      for (const ask of await deps.askStore.takeLeft()) deps.events.askLeft(ask);
      await recoverTurns(entry, lastEnd);
    },
    stateOf: turnQueue.stateOf,
    isBusy,
    async whileIdle(conversationKey, work) {
      if (isBusy(conversationKey)) throw conflict('A turn of this conversation is in flight. Abort it first.');
      // A place that is held and never run: it needs no slot, and all others come behind it.
      const place = turnQueue.enter(conversationKey, { next: true, unlimited: true });
      try {
        return await work();
      } finally {
        place.leave();
      }
    },
    isLive: (conversationKey, messageId) => liveTurns.find(conversationKey, messageId) !== undefined,
    liveTurn: liveTurns.byId,
    watch: (conversationKey, watcher, after) =>
      deps.watches.add(conversationKey, watcher, after, liveTurns.acceptedOf(conversationKey)),
    counts: turnQueue.counts,
    liveCount: liveTurns.count,
    turnActions: parts.turnActions,
    pendingAcks: parts.pendingAcks,
    holdFor: createTurnHold(turnQueue, clock).holdFor,
    isClosed: turnQueue.isClosed,
    async close(deadlineMs) {
      batches.close();
      await turnQueue.close(deadlineMs);
      deps.watches.flush();
    },
  };
}
