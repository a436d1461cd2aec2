import type { Clock } from '@svc/service-kit/clock.ts';
import { compositeKey } from '@svc/service-kit/composite-key.ts';
import type { StoredDelivery } from './delivery-store.ts';
import type { OpenReply } from './open-replies.ts';

/** A delivery in its line. Its times are by the clock that only goes forward. */
export type Waiting = {
  delivery: StoredDelivery;
  dueAt: number;
  endsAt: number;
  /** Turns whose replies come before it, each with the time until which it is waited for. */
  before: Map<string, number>;
  isUnderWay: boolean;
};

/** The deliveries that wait, a line for each target: one after the other, each when it is due and what comes before it is shown. */
export interface DeliveryLines {
  /** Behind what waits, but before what waits for its turn. */
  add(delivery: StoredDelivery, before?: readonly OpenReply[]): void;
  /** Begins to try them. `before`: what those that are here already wait for. */
  start(before: (delivery: StoredDelivery) => readonly OpenReply[]): void;
  /** The reply of a turn is shown, or in its line. */
  replyEnded(turnId: string): void;
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
};

/** How long a reply is waited for from when it was made, ms: its connector tries to show it for a minute. */
const longestShownMs = 70_000;

export function createDeliveryLines({ clock, maxPauseMs, giveUpMs, attempt, onSettled }: Deps): DeliveryLines {
  const lines = new Map<string, Waiting[]>();
  const timers = new Map<string, () => void>();
  let deliveries = 0;
  let chars = 0;
  let isStarted = false;
  let isClosed = false;

  /** What is stored has times of day: what they are worth is seen once, so that a clock that is set later changes nothing. */
  function toWaiting(delivery: StoredDelivery, before: readonly OpenReply[]): Waiting {
    const now = clock.now();
    const waitMs = Math.min((delivery.next_at ?? now) - now, maxPauseMs);
    const ageMs = Math.max(0, now - delivery.created_at);
    const times = { dueAt: clock.elapsed() + waitMs, endsAt: clock.elapsed() + giveUpMs - ageMs };
    return { delivery, ...times, before: untilOf(before), isUnderWay: false };
  }

  /** Works off one target's line until it is empty or has to wait. */
  async function work(key: string): Promise<void> {
    const line = lines.get(key);
    while (line !== undefined && !isClosed) {
      const waiting = line[0];
      if (waiting === undefined) return void lines.delete(key);
      const waitMs = Math.max(waiting.dueAt, ...waiting.before.values()) - clock.elapsed();
      if (waitMs > 0) return workLater(key, waitMs);
      waiting.isUnderWay = true;
      await attempt(waiting);
      waiting.isUnderWay = false;
      if (waiting.delivery.state === 'pending') continue;
      takeOut(line, waiting);
      onSettled(waiting.delivery);
    }
  }

  function workLater(key: string, waitMs: number): void {
    const cancel = clock.after(waitMs, () => {
      timers.delete(key);
      void work(key);
    });
    timers.set(key, cancel);
  }

  /** Looks at a line that waits, as if its time had come. */
  function wake(key: string): void {
    const cancel = timers.get(key);
    if (cancel === undefined) return; // it is being worked on
    cancel();
    timers.delete(key);
    void work(key);
  }

  function takeOut(line: Waiting[], waiting: Waiting): void {
    line.splice(line.indexOf(waiting), 1);
    deliveries--;
    chars -= waiting.delivery.text.length;
  }

  return {
    add(delivery, before = []): void {
      deliveries++;
      chars += delivery.text.length;
      const key = compositeKey(delivery.instance_id, delivery.target);
      const waiting = toWaiting(delivery, before);
      const line = lines.get(key);
      if (line !== undefined) return void line.splice(placeIn(line, delivery), 0, waiting);
      lines.set(key, [waiting]);
      if (isStarted) queueMicrotask(() => void work(key));
    },

    start(before): void {
      isStarted = true;
      for (const [key, line] of lines) {
        for (const waiting of line) waiting.before = untilOf(before(waiting.delivery));
        queueMicrotask(() => void work(key));
      }
    },

    replyEnded(turnId): void {
      for (const [key, line] of lines) {
        const isHere = line.filter(({ before }) => before.delete(turnId)).length > 0;
        if (isHere) wake(key);
      }
    },

    hurry(id: string): boolean {
      const isHere = ({ delivery }: Waiting) => delivery.id === id && delivery.state === 'pending';
      const [key, line] = [...lines].find(([, each]) => each.some(isHere)) ?? [];
      if (key === undefined || line === undefined) return false;
      for (const each of line) {
        each.dueAt = clock.elapsed();
        each.before.clear();
      }
      wake(key);
      return true;
    },

    size: () => ({ deliveries, chars }),

    close(): void {
      isClosed = true;
      for (const cancel of timers.values()) cancel();
    },
  };
}

const untilOf = (before: readonly OpenReply[]): Map<string, number> =>
  new Map(before.map(({ turnId, since }) => [turnId, since + longestShownMs]));

/** Before the first that waits for its turn: its reply could not be shown, so it comes this way, and comes first. */
function placeIn(line: readonly Waiting[], { turn_id }: StoredDelivery): number {
  const at = line.findIndex(({ before, isUnderWay }) => !isUnderWay && before.has(turn_id));
  return at === -1 ? line.length : at;
}
