import type { Clock } from '@svc/service-kit/clock.ts';
import { compositeKey } from '@svc/service-kit/composite-key.ts';
import type { StoredDelivery } from './delivery-store.ts';

/** A delivery in its line. Its times are by the clock that only goes forward. */
export type Waiting = { delivery: StoredDelivery; dueAt: number; endsAt: number };

/** The deliveries that wait, a line for each target: one after the other, each when it is due. */
export interface DeliveryLines {
  add(delivery: StoredDelivery): void;
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

export function createDeliveryLines({ clock, maxPauseMs, giveUpMs, attempt, onSettled }: Deps): DeliveryLines {
  const lines = new Map<string, Waiting[]>();
  const timers = new Map<string, () => void>();
  let deliveries = 0;
  let chars = 0;
  let isClosed = false;

  /** What is stored has times of day: what they are worth is seen once, so that a clock that is set later changes nothing. */
  function timed(delivery: StoredDelivery): Waiting {
    const now = clock.now();
    const waitMs = Math.min((delivery.next_at ?? now) - now, maxPauseMs);
    const ageMs = Math.max(0, now - delivery.created_at);
    return { delivery, dueAt: clock.elapsed() + waitMs, endsAt: clock.elapsed() + giveUpMs - ageMs };
  }

  /** Works off one target's line until it is empty or has to wait. */
  async function work(key: string): Promise<void> {
    const line = lines.get(key);
    while (line !== undefined && !isClosed) {
      const waiting = line[0];
      if (waiting === undefined) return void lines.delete(key);
      const waitMs = waiting.dueAt - clock.elapsed();
      if (waitMs > 0) return workLater(key, waitMs);
      await attempt(waiting);
      if (waiting.delivery.state !== 'pending') leave(line, waiting);
    }
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
      if (line !== undefined) return void line.push(timed(delivery));
      lines.set(key, [timed(delivery)]);
      queueMicrotask(() => void work(key));
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
