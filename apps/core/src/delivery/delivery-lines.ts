import type { Clock } from '@svc/service-kit/clock.ts';
import { compositeKey } from '@svc/service-kit/composite-key.ts';
import type { StoredDelivery } from './delivery-store.ts';
import type { OpenReply } from './open-replies.ts';

/** A delivery in its line. Its times are those of the monotonic clock. */
export type Waiting = {
  delivery: StoredDelivery;
  dueAt: number;
  endsAt: number;
  /** Turns whose replies must come before it, each with the time until which it waits for them. */
  before: Map<string, number>;
  isUnderWay: boolean;
};

/** The waiting deliveries, in one line per target. Each is sent when it is due and the replies before it are shown. */
export interface DeliveryLines {
  /** Adds it at the end, but ahead of deliveries that wait for its turn's reply. */
  add(delivery: StoredDelivery, before?: readonly OpenReply[]): void;
  /** Begins to send. `before`: the replies that an already waiting delivery has to wait for. */
  start(before: (delivery: StoredDelivery) => readonly OpenReply[]): void;
  /** The reply of a turn was shown, or is in its line now. */
  replyEnded(turnId: string): void;
  /** Tries everything in the line of a waiting delivery now. False when it is in no line. */
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
  /** Tries a delivery, and either settles it or sets when it is due again. */
  attempt(waiting: Waiting): Promise<void>;
  onSettled(delivery: StoredDelivery): void;
};

/** How long others wait for a reply after it was made, ms: its connector tries to show it for a minute. */
const longestShownMs = 70_000;

export function createDeliveryLines({ clock, maxPauseMs, giveUpMs, attempt, onSettled }: Deps): DeliveryLines {
  const lines = new Map<string, Waiting[]>();
  const timers = new Map<string, () => void>();
  let deliveries = 0;
  let chars = 0;
  let isStarted = false;
  let isClosed = false;

  /** Stored times are times of day. They are converted once, so that setting the clock later changes nothing. */
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

  /** Checks a waiting line now. */
  function wake(key: string): void {
    const cancel = timers.get(key);
    if (cancel === undefined) return; // the line is already being processed
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

/** Ahead of the first delivery that waits for this turn's reply: its channel could not show that, so it is pushed, and still comes first. */
function placeIn(line: readonly Waiting[], { turn_id }: StoredDelivery): number {
  const at = line.findIndex(({ before, isUnderWay }) => !isUnderWay && before.has(turn_id));
  return at === -1 ? line.length : at;
}
