import type { Clock } from '@svc/service-kit/clock.ts';
import { compositeKey } from '@svc/service-kit/composite-key.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { StoredDelivery } from './delivery-store.ts';

/** A delivery in its line. Its times are by the clock that only goes forward. `isUnderWay`: it is being tried. */
export type Waiting = { delivery: StoredDelivery; dueAt: number; endsAt: number; isUnderWay: boolean; isPatient: boolean };

/** Resolves when what has to be shown before a delivery is; null when there is nothing. */
type Before = (delivery: StoredDelivery) => Promise<void> | null;

/** The deliveries that wait, a line for each target: one after the other, each when it is due. */
export interface DeliveryLines {
  /** Behind what waits, but before what later turns of its conversation have said. */
  add(delivery: StoredDelivery): void;
  /** Nothing is tried before. */
  start(before: Before): void;
  /** Has everything in the line of a waiting delivery tried now. False when it is in none. */
  hurry(id: string): boolean;
  /** How many wait, and the characters of their texts. */
  size(): { deliveries: number; chars: number };
  close(): void;
}

type Deps = {
  clock: Clock;
  /** Longest pause before an attempt. */
  maxPauseMs: number;
  /** Age at which a delivery is given up. */
  giveUpMs: number;
  /** Tries a delivery, and settles it or says when it is due again. */
  attempt(waiting: Waiting): Promise<void>;
  onSettled(delivery: StoredDelivery): void;
  log: Pick<Log, 'warn'>;
};

/** Longest wait for the replies that come before a delivery: their connector tries to show them for a minute. */
const longestBeforeMs = 70_000;

export function createDeliveryLines({ clock, maxPauseMs, giveUpMs, attempt, onSettled, log }: Deps): DeliveryLines {
  const lines = new Map<string, Waiting[]>();
  const timers = new Map<string, () => void>();
  let deliveries = 0;
  let chars = 0;
  let isClosed = false;
  let before: Before | null = null;

  /** What is stored has times of day: what they are worth is seen once, so that a clock that is set later changes nothing. */
  function timed(delivery: StoredDelivery): Waiting {
    const now = clock.now();
    const waitMs = Math.min((delivery.next_at ?? now) - now, maxPauseMs);
    const ageMs = Math.max(0, now - delivery.created_at);
    const times = { dueAt: clock.elapsed() + waitMs, endsAt: clock.elapsed() + giveUpMs - ageMs };
    return { delivery, ...times, isUnderWay: false, isPatient: true };
  }

  /** Works off one target's line until it is empty or has to wait. */
  async function work(key: string): Promise<void> {
    const line = lines.get(key);
    while (line !== undefined && !isClosed) {
      const waiting = line[0];
      if (waiting === undefined) return void lines.delete(key);
      const waitMs = waiting.dueAt - clock.elapsed();
      if (waitMs > 0) return workLater(key, waitMs);
      const shown = waiting.isPatient ? (before?.(waiting.delivery) ?? null) : null;
      if (shown !== null) await awaitTurn(waiting, shown);
      else await tryNow(line, waiting);
    }
  }

  /** After that the line is looked at again: what it waited for may have come into it. */
  async function awaitTurn(waiting: Waiting, shown: Promise<void>): Promise<void> {
    await settledWithin(clock, longestBeforeMs, shown, () => {
      waiting.isPatient = false;
      log.warn(
        { delivery: waiting.delivery.id },
        'a reply is sent although an earlier one of its conversation is still being shown',
      );
    });
  }

  async function tryNow(line: Waiting[], waiting: Waiting): Promise<void> {
    waiting.isUnderWay = true;
    await attempt(waiting);
    waiting.isUnderWay = false;
    if (waiting.delivery.state !== 'pending') leave(line, waiting);
  }

  function workLater(key: string, waitMs: number): void {
    const cancel = clock.after(waitMs, () => {
      timers.delete(key);
      void work(key);
    });
    timers.set(key, cancel);
  }

  function leave(line: Waiting[], waiting: Waiting): void {
    line.splice(line.indexOf(waiting), 1);
    deliveries--;
    chars -= waiting.delivery.text.length;
    onSettled(waiting.delivery);
  }

  return {
    add(delivery: StoredDelivery): void {
      deliveries++;
      chars += delivery.text.length;
      const key = compositeKey(delivery.instance_id, delivery.target);
      const line = lines.get(key);
      if (line !== undefined) return void line.splice(placeIn(line, delivery), 0, timed(delivery));
      lines.set(key, [timed(delivery)]);
      if (before !== null) queueMicrotask(() => void work(key));
    },

    start(given): void {
      before = given;
      for (const key of lines.keys()) queueMicrotask(() => void work(key));
    },

    hurry(id: string): boolean {
      const isHere = ({ delivery }: Waiting) => delivery.id === id && delivery.state === 'pending';
      const [key, line] = [...lines].find(([, each]) => each.some(isHere)) ?? [];
      if (key === undefined || line === undefined) return false;
      for (const each of line) each.dueAt = clock.elapsed();
      const cancel = timers.get(key);
      if (cancel === undefined) return true; // it is being worked on
      cancel();
      timers.delete(key);
      void work(key);
      return true;
    },

    size: () => ({ deliveries, chars }),

    close(): void {
      isClosed = true;
      for (const cancel of timers.values()) cancel();
    },
  };
}

/** Before the first that waits and is of a later turn of its conversation. */
function placeIn(line: readonly Waiting[], { conversation_key, turn_seq }: StoredDelivery): number {
  const isLater = ({ delivery, isUnderWay }: Waiting) =>
    !isUnderWay && turn_seq > 0 && delivery.conversation_key === conversation_key && delivery.turn_seq > turn_seq;
  const at = line.findIndex(isLater);
  return at === -1 ? line.length : at;
}

/** Resolves when work has ended that never rejects, or after that time, which is said. */
function settledWithin(clock: Pick<Clock, 'after'>, ms: number, work: Promise<void>, onLate: () => void): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(ms, () => {
      onLate();
      resolve();
    });
    void work.finally(cancel).then(resolve, resolve);
  });
}
