import type { Envelope } from '@svc/contract/envelope.ts';
import { systemClock, type Clock } from '@svc/service-kit/clock.ts';
import { errorText, unavailable } from '@svc/service-kit/service-error.ts';
import { inTime, within } from '@svc/service-kit/within.ts';
import type { CoreApi, StartContext } from '../connector.ts';
import { pause } from '../retry.ts';
import type { ConnectorState } from '../state/state.ts';
import { boundedName } from './bounded-name.ts';
import { createAmendJob, type AmendUpdate } from './amend-job.ts';
import { answerTurn } from './answer-turn.ts';
import { createChatLines } from './chat-lines.ts';
import { createRedeliveryLimit } from './redelivery-limit.ts';
import { createHearing } from './hearing.ts';
import type { OpenReply } from './lazy-reply.ts';
import { createMessageJob, type MessageJob, type MessageUpdate, type Update } from './message-job.ts';
import { createOpenTurns, type OpenTurn } from './open-turns.ts';
import { isPassing, pauseMs, toFault } from './passing-faults.ts';
import { createPreparer } from './prepare-update.ts';
import { readyEnvelope } from './ready-envelope.ts';
import { createUpdatesOnTheWay } from './updates-on-the-way.ts';
import { createTurnOrder } from './turn-order.ts';
import { tooSlow } from './too-slow.ts';

export type IngressOptions = {
  core: Pick<CoreApi, 'handleStream' | 'amend' | 'delivered'>;
  state: ConnectorState;
  log: StartContext['log'];
  /** Creates what shows the reply of a turn. Also called for turns of an earlier process, as soon as the ingress is created. */
  openReply: OpenReply;
  clock?: Clock;
  /** Updates with the same `gather` that follow each other within this time form one message, ms. */
  gatherMs?: number;
  /** Maximum number of updates that are prepared at once, over all chats. */
  maxPreparing?: number;
  /** Timeout of `prepare`, including retries and pauses, ms. */
  prepareWithinMs?: number;
  /** How long an update waits for its chat and then for the core before `take` rejects, ms. */
  safeWithinMs?: number;
};

/** Passes a platform's updates to the core: in order within each chat and each exactly once, even if a process is killed. */
export type Ingress = {
  /**
   * Call it for each update, in the platform's order. When it resolves, the update may be acknowledged: its message will be answered once
   * or listed as failed. When it rejects, the platform must deliver the update again, together with all later ones of its chat.
   * `prepare` makes the envelope, or null when there is nothing to answer. Its errors are retried; after that the update is logged and
   * skipped, except for a `ServiceError` `unavailable`, `busy` or `queue_full`, after which it must be delivered again. Consecutive updates
   * of a chat with the same `gather` form one message.
   * @throws ServiceError `queue_full`, `busy`, `unavailable`
   */
  take(chat: string, updateId: string, prepare: MessageUpdate['prepare'], gather?: string): Promise<void>;
  /**
   * Handles an edit or a deletion in the order of its chat, as `take` does: if called after the message that it changes, it reaches the
   * core after it. `message_id` is that of the message's envelope.
   * @throws ServiceError as `take`
   */
  amend(chat: string, updateId: string, prepare: AmendUpdate['prepare']): Promise<void>;
  /**
   * Reports that all updates that a polled platform had at a time (of the clock's `elapsed`) were passed to `take`; `followUpdates` calls
   * it. From the first call on, the parts of a message are complete only once a later poll has covered their quiet time, so a failed poll
   * does not split them.
   */
  caughtUp(asOf: number): void;
  /** Accepts nothing more. Resolves when all open turns have ended, or after `withinMs`: the next process continues the rest. */
  stop(withinMs: number): Promise<void>;
};

const defaults = { clock: systemClock, gatherMs: 700, maxPreparing: 8, prepareWithinMs: 5 * 60_000, safeWithinMs: 60_000 };

/** Continues at once with the turns that an earlier process left open: create it when the channel can show replies. */
export function createIngress(options: IngressOptions): Ingress {
  const { core, state, log, openReply, clock, gatherMs, maxPreparing, prepareWithinMs, safeWithinMs } = {
    ...defaults,
    ...options,
  };
  const stopping = new AbortController();
  const { signal } = stopping;
  const turns = createOpenTurns(state, log);
  const lines = createChatLines<MessageJob>();
  const hearing = createHearing(clock);
  const order = createTurnOrder();
  const onTheWay = createUpdatesOnTheWay(clock, lines, safeWithinMs);
  const { prepare } = createPreparer({ clock, log, signal, atOnce: maxPreparing, withinMs: prepareWithinMs });
  const redeliveries = createRedeliveryLimit();
  const answering = new Set<Promise<void>>();

  /** Resolves when the turn is safe: the core has it, or it has ended. */
  async function answer(turn: OpenTurn): Promise<void> {
    const safe = Promise.withResolvers<void>();
    const deps = { core, turns, clock, log, openReply, signal };
    const answered = order.add(turn.envelope.conversation_key, (before) => answerTurn(deps, turn, before, safe.resolve));
    answering.add(answered);
    void answered.finally(() => {
      answering.delete(answered);
      safe.reject(stopped());
    });
    return safe.promise;
  }

  async function handOver(chat: string, updates: readonly string[], given: Envelope): Promise<void> {
    const since = clock.elapsed();
    for (let tries = 1; ; tries++) {
      try {
        return await answer(await turns.open(chat, updates, readyEnvelope(given, chat, updates)));
      } catch (error) {
        if (!isPassing(error)) return refuse(chat, updates, given, error);
        if (clock.elapsed() - since > safeWithinMs || !(await pause(clock, pauseMs(error, tries), signal))) throw error;
      }
    }
  }

  /** The message can never be stored until it is answered, so it is not sent to the core; its sender sees the reason. */
  function refuse(chat: string, updates: readonly string[], envelope: Envelope, error: unknown): void {
    log('error', 'a message could not be saved and was skipped', { chat, updates, error: errorText(error) });
    const refused = (async () => openReply(envelope, { turnId: null, again: false }).fail(toFault(error)))();
    refused.catch((fault: unknown) => log('error', 'a refusal could not be shown', { chat, updates, error: errorText(fault) }));
  }

  function begin(update: MessageUpdate, gather?: string): MessageJob {
    const { chat } = update;
    const last = lines.last(chat);
    if (gather !== undefined && last?.join?.(gather, update) === true) return last;
    const job = createMessageJob(
      { clock, gatherMs, prepare, heard: hearing.heard, handOver: (...message) => handOver(chat, ...message) },
      update,
      gather,
    );
    lines.add(chat, job);
    return job;
  }

  function recover(turn: OpenTurn): void {
    const { chat, updates } = turn;
    const safe = Promise.withResolvers<void>();
    const run = async () => {
      safe.resolve(answer(turn));
      await safe.promise;
    };
    const job: MessageJob = { stage: () => 'asking', run, drop: safe.reject };
    for (const id of updates) onTheWay.add({ update: { chat, id, safe }, job });
    lines.add(chat, job, { unlimited: true });
  }

  /** Messages that an earlier process left open come first, in order. */
  async function load(): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        const left = await turns.load();
        for (const { turn_id, error } of left.shown) core.delivered(turn_id, error);
        return left.turns.forEach(recover);
      } catch (error) {
        log('error', 'the open messages of this connector cannot be read', { error: errorText(error) });
        if (!(await pause(clock, pauseMs(error, tries), signal))) return;
      }
    }
  }

  const loaded = load();

  async function enter(chatName: string, updateId: string, toJob: (update: Update) => MessageJob): Promise<void> {
    const [chat, id] = [boundedName(chatName), boundedName(updateId)];
    const notTaken = (error: unknown): never => {
      onTheWay.refused(chat, id);
      throw error;
    };
    await inTime(loaded, safeWithinMs, tooSlow(safeWithinMs), clock).catch(notTaken);
    if (signal.aborted) throw stopped();
    const mayCome = onTheWay.mayCome(chat, id);
    const found = onTheWay.find(chat, id);
    if (found !== undefined) return onTheWay.wait(found);
    if (turns.isKnown(chat, id)) return;
    if (!mayCome) throw unavailable('An earlier update of this chat must be sent again first.');
    const update: Update = { chat, id, safe: Promise.withResolvers<void>() };
    try {
      const entry = { update, job: toJob(update) };
      onTheWay.add(entry);
      return onTheWay.wait(entry);
    } catch (error) {
      return notTaken(error);
    }
  }

  return {
    take: (chat, id, prepareUpdate, gather) => enter(chat, id, (update) => begin({ ...update, prepare: prepareUpdate }, gather)),
    amend: (chat, id, prepareUpdate) =>
      enter(chat, id, (update) => {
        const job = createAmendJob(
          { core, clock, log, signal, withinMs: safeWithinMs, redeliveries, prepare },
          { ...update, prepare: prepareUpdate },
        );
        lines.add(update.chat, job);
        return job;
      }),
    caughtUp: hearing.caughtUp,
    async stop(withinMs) {
      stopping.abort();
      lines.dropWaiting(stopped());
      const ended = loaded.then(() => lines.drained()).then(() => Promise.allSettled(answering));
      const isOver = await within(ended, withinMs, clock).catch(() => false);
      if (!isOver) log('info', 'some messages are still open; they are asked again at the next start');
    },
  };
}

const stopped = () => unavailable('This connector is stopping. Send the update again after its restart.');
