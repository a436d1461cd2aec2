import type { Clock } from '@svc/service-kit/clock.ts';
import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';

type Options<Item> = {
  clock: Pick<Clock, 'elapsed' | 'after'>;
  /** The shortest and the longest wait of an item; one that waits longer is dropped. */
  delayMs: number;
  longestMs: number;
  /** Above this number, the item that has waited longest is dropped. */
  max: number;
  /** Whether something more urgent is to be done. */
  isBusy(): boolean;
  /** Never rejects. */
  run(item: Item, signal: AbortSignal): Promise<void>;
};

/** Background work, one item at a time and only while nothing more urgent is to be done. Kept in memory only. */
export interface IdleQueue<Item> {
  add(key: string, item: Item): void;
  /** Whether the item waits or runs. */
  has(key: string): boolean;
  /** Drops a waiting item and aborts a running one. */
  remove(key: string): void;
  /** Resolves when nothing runs any more. */
  close(): Promise<void>;
}

type Waiting<Item> = { item: Item; since: number };

const busyMs = 1000;

export function createIdleQueue<Item>({ clock, delayMs, longestMs, max, isBusy, run }: Options<Item>): IdleQueue<Item> {
  /** In order of arrival. */
  const waiting = new Map<string, Waiting<Item>>();
  let running: { key: string; end: AbortController; ended: Promise<void> } | null = null;
  let cancelLook: (() => void) | null = null;
  let isClosed = false;

  const scheduleLook = (ms: number) => {
    if (cancelLook !== null || running !== null || waiting.size === 0 || isClosed) return;
    cancelLook = clock.after(ms, () => {
      cancelLook = null;
      look();
    });
  };

  const look = () => {
    const now = clock.elapsed();
    for (const [key, { since }] of waiting) if (now - since > longestMs) waiting.delete(key);
    const [first] = waiting;
    if (first === undefined || running !== null) return;
    const [key, { item, since }] = first;
    const early = since + delayMs - now;
    if (early > 0) return scheduleLook(early);
    if (isBusy()) return scheduleLook(busyMs);
    waiting.delete(key);
    begin(key, item);
  };

  const begin = (key: string, item: Item) => {
    const end = new AbortController();
    const ended = run(item, end.signal).finally(() => {
      running = null;
      scheduleLook(0);
    });
    running = { key, end, ended };
  };

  return {
    add(key, item) {
      if (isClosed) return;
      waiting.set(key, { item, since: clock.elapsed() });
      forgetOldest(waiting, max);
      scheduleLook(delayMs);
    },
    has: (key) => waiting.has(key) || running?.key === key,
    remove(key) {
      waiting.delete(key);
      if (running?.key === key) running.end.abort();
    },
    async close() {
      isClosed = true;
      cancelLook?.();
      waiting.clear();
      running?.end.abort();
      await running?.ended;
    },
  };
}
