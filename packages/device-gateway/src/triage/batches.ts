import type { Clock } from '@svc/service-kit/clock.ts';

/** Collects items that are processed together. */
export type Batches<Item, Answer> = {
  /**
   * Adds to the batch of a key, or begins one. When the batch ends, the first request that still waits gets the answer, the others null.
   * All of them reject when `look` rejects. `signal`: aborts when the caller disconnects.
   */
  add(key: string, items: readonly Item[], signal: AbortSignal): Promise<Answer | null>;
};

type Options<Item, Answer> = {
  clock: Clock;
  /** How long a batch collects items, ms. */
  gatherMs: number;
  /** Maximum number of items in a batch; further ones are only counted. */
  maxItems: number;
  /** Processes a batch; one at a time per key. `left`: how many more items there were. */
  look(key: string, items: Item[], left: number): Promise<Answer>;
};

type Asking<Answer> = { signal: AbortSignal; resolve(answer: Answer | null): void; reject(error: unknown): void };
type Batch<Item, Answer> = { items: Item[]; left: number; asking: Asking<Answer>[] };

/** A batch that is due while the previous one is still being processed continues to collect items. */
export function createBatches<Item, Answer>({ clock, gatherMs, maxItems, look }: Options<Item, Answer>): Batches<Item, Answer> {
  const gathering = new Map<string, Batch<Item, Answer>>();
  const looking = new Map<string, Promise<void>>();

  async function end(key: string): Promise<void> {
    await looking.get(key);
    const batch = gathering.get(key);
    gathering.delete(key);
    if (batch === undefined) return;
    const work = settle(key, batch).finally(() => looking.delete(key));
    looking.set(key, work);
    await work;
  }

  async function settle(key: string, { items, left, asking }: Batch<Item, Answer>): Promise<void> {
    if (asking.every(({ signal }) => signal.aborted)) return asking.forEach(({ resolve }) => resolve(null));
    try {
      const answer = await look(key, items, left);
      const first = asking.find(({ signal }) => !signal.aborted);
      for (const each of asking) each.resolve(each === first ? answer : null);
    } catch (error) {
      for (const { reject } of asking) reject(error);
    }
  }

  return {
    add: (key, items, signal) =>
      new Promise((resolve, reject) => {
        const known = gathering.get(key);
        const batch = known ?? { items: [], left: 0, asking: [] };
        const room = maxItems - batch.items.length;
        batch.items.push(...items.slice(0, room));
        batch.left += Math.max(items.length - room, 0);
        batch.asking.push({ signal, resolve, reject });
        if (known !== undefined) return;
        gathering.set(key, batch);
        clock.after(gatherMs, () => void end(key));
      }),
  };
}
