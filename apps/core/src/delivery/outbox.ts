import { backOffMs } from '@svc/service-kit/backoff.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import type { Database, Transaction } from '@svc/store/database.ts';
import type { SendOutcome, SendToChannel } from './channel-sender.ts';
import { createFirstTries } from './first-tries.ts';
import { createDeliveryLines, type Waiting } from './delivery-lines.ts';
import type { OpenReplies, OpenReply } from './open-replies.ts';
import { aboutOf, type DeliveryStore, type NewDelivery, type StoredDelivery } from './delivery-store.ts';

export type OutboxDeps = {
  store: DeliveryStore;
  db: Pick<Database, 'transaction'>;
  send: SendToChannel;
  clock: Clock;
  log: Pick<Log, 'warn' | 'error'>;
  /** Masks a text before it is sent. Throws when it must not be sent. */
  redact: (text: string) => string | Promise<string>;
  onSettled: (delivery: StoredDelivery) => void;
};

const backOff = { firstMs: 1000, maxMs: 5 * 60_000 };
/** An older reply would only confuse. */
const giveUpMs = 24 * 60 * 60_000;
/** Deliveries beyond these limits are listed as failed at once, and can be retried from there. */
const maxPending = { deliveries: 5000, chars: 64_000_000 };

const tooMany = 'too many deliveries are waiting';

/** Pushes replies to their channels, in order per target, until they are sent, permanently refused or too old. */
export interface Outbox {
  /** Stores a delivery and begins to send it. Resolves when it is stored. */
  push(delivery: NewDelivery): Promise<StoredDelivery>;
  /** Stores the deliveries of a reply and what `change` writes in one transaction, and begins to send them. */
  pushAll(deliveries: readonly NewDelivery[], change: (tx: Transaction) => Promise<unknown>): Promise<StoredDelivery[]>;
  /** The outcome of the first attempt of a delivery that was just pushed, or that it still waits after `withinMs`. */
  firstTry(delivery: StoredDelivery, withinMs: number): Promise<SendOutcome>;
  /** Loads what an earlier process left. */
  load(): Promise<void>;
  /** Begins to send. A delivery waits for earlier replies of its conversation that are still being shown. */
  start(replies: OpenReplies): void;
  /** Tries a failed or waiting delivery now. False when there is none, or it has no route. */
  retry(id: string): Promise<boolean>;
  /** A reply that could not be pushed has reached its person in another way. False when no such delivery has failed. Repeating it changes nothing. */
  confirm(id: string): Promise<boolean>;
  /** Takes a settled delivery off the list. */
  remove(id: string): Promise<boolean>;
  /** Forgets the deliveries of a conversation. One in transit still arrives. */
  forget(conversationKey: string): Promise<void>;
  /** Removes some of those settled before `before` (epoch ms); returns how many. */
  prune(before: number): Promise<number>;
  counts(): { pending: number; failed: number };
  close(): void;
}

/**
 * Replies that have to be pushed: stored until the channel has them, and retried with growing delays, in order per target.
 * What cannot be delivered is listed, never silently dropped.
 */
export function createOutbox({ store, db, send, clock, log, redact, onSettled }: OutboxDeps): Outbox {
  const firstTries = createFirstTries(clock);
  const retrying = new Set<string>();
  let failed = 0;
  let replies: OpenReplies | null = null;
  const lines = createDeliveryLines({ clock, maxPauseMs: backOff.maxMs, giveUpMs, attempt, onSettled });

  /** Nothing is sent before it is stored, or a crash could send the same reply again under another id. */
  const pushAll: Outbox['pushAll'] = (deliveries, change) =>
    db.transaction(async (tx) => {
      const pushed: StoredDelivery[] = [];
      for (const delivery of deliveries) pushed.push(await store.add(tx, ...inRoom(delivery)));
      await change(tx);
      tx.afterCommit(() => pushed.forEach(begin));
      return pushed;
    });

  function inRoom(delivery: NewDelivery): [NewDelivery, isRefused: boolean] {
    const { deliveries, chars } = lines.size();
    const isFull = deliveries >= maxPending.deliveries || chars >= maxPending.chars;
    return [isFull ? { ...delivery, error: tooMany } : delivery, isFull];
  }

  function begin(stored: StoredDelivery): void {
    if (stored.state === 'failed') failed++;
    else lines.add(stored, before(stored));
  }

  async function push(delivery: NewDelivery): Promise<StoredDelivery> {
    const [stored] = await pushAll([delivery], async () => undefined);
    if (stored === undefined) throw new Error('a delivery could not be stored');
    return stored;
  }

  /** Replies that come before a delivery, because their connectors may still be showing them. */
  const before = ({ turn_id, turn_seq, conversation_key }: StoredDelivery): OpenReply[] =>
    turn_seq === 0 || replies === null ? [] : replies.openIn(conversation_key).filter(({ turnId }) => turnId !== turn_id);

  async function attempt(waiting: Waiting): Promise<void> {
    const { delivery, endsAt } = waiting;
    const outcome = await trySend(delivery);
    delivery.attempts++;
    if (outcome.delivered) settle(delivery, 'delivered', null);
    else if (outcome.permanent || clock.elapsed() >= endsAt) settle(delivery, 'failed', outcome.error);
    else putOff(waiting, outcome.error);
    try {
      await store.update(delivery);
    } catch (error) {
      log.error({ err: error, delivery: delivery.id }, 'the outcome of a delivery could not be stored');
    }
    firstTries.tried(delivery.id, outcome);
  }

  function putOff(waiting: Waiting, error: string): void {
    const { delivery } = waiting;
    delivery.error = error;
    const pauseMs = backOffMs(backOff, delivery.attempts);
    waiting.dueAt = clock.elapsed() + pauseMs;
    delivery.next_at = clock.now() + pauseMs;
    if (delivery.attempts === 1) log.warn({ delivery: delivery.id, why: error }, 'a reply could not be delivered yet');
  }

  function settle(delivery: StoredDelivery, state: 'delivered' | 'failed', error: string | null): void {
    delivery.state = state;
    delivery.error = error;
    delivery.next_at = null;
    if (state === 'failed') {
      failed++;
      log.error({ delivery: delivery.id, why: error }, 'a reply could not be delivered');
    }
  }

  function uncount(removed: readonly Pick<StoredDelivery, 'state'>[]): void {
    failed -= removed.filter(({ state }) => state === 'failed').length;
  }

  async function trySend(delivery: StoredDelivery): Promise<SendOutcome> {
    const { id, instance_id, target, text, file, kind } = delivery;
    try {
      const place = { instance_id: instance_id ?? '', target: target ?? '' };
      const content = file === null ? { text: await redact(text) } : { path: file.path };
      return await send({ id, ...place, ...(kind !== null && { kind }), ...content, ...aboutOf(delivery) });
    } catch (error) {
      return { delivered: false, permanent: false, error: errorText(error) };
    }
  }

  return {
    push,
    pushAll,

    firstTry: firstTries.wait,

    async load(): Promise<void> {
      failed = (await store.counts())?.failed ?? 0;
      for (const delivery of await store.pending()) lines.add(delivery);
    },

    start(given): void {
      replies = given;
      given.onEnd(lines.replyEnded);
      // For deliveries of an earlier process, only the seq of their turns shows which came first.
      lines.start((delivery) => before(delivery).filter(({ turnSeq }) => turnSeq < delivery.turn_seq));
    },

    async retry(id: string): Promise<boolean> {
      if (lines.hurry(id)) return true;
      const delivery = await store.find(id);
      if (delivery?.state !== 'failed' || delivery.instance_id === null) return false;
      if (retrying.has(id)) return true;
      retrying.add(id);
      const again: StoredDelivery = { ...delivery, state: 'pending', next_at: clock.now(), created_at: clock.now() };
      await store.update(again).finally(() => retrying.delete(id));
      failed--;
      lines.add(again);
      return true;
    },

    async confirm(id: string): Promise<boolean> {
      const delivery = await store.find(id);
      if (delivery?.state !== 'failed') return delivery?.state === 'delivered';
      // Another call may have been faster.
      if (!(await store.confirm(id))) return (await store.find(id))?.state === 'delivered';
      failed--;
      onSettled({ ...delivery, state: 'delivered', error: null });
      return true;
    },

    async remove(id: string): Promise<boolean> {
      const delivery = await store.find(id);
      const isGone = (await store.remove(id)) > 0;
      if (isGone && delivery?.state === 'failed') failed--;
      return isGone;
    },

    async forget(key: string): Promise<void> {
      for (let removed = await store.forget(key); removed.length > 0; removed = await store.forget(key)) uncount(removed);
    },

    async prune(before: number): Promise<number> {
      const removed = await store.prune(before);
      uncount(removed);
      return removed.length;
    },

    counts: () => ({ pending: lines.size().deliveries, failed }),

    close: () => lines.close(),
  };
}
