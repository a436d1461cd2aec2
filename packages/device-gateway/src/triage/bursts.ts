import type { Clock } from '@svc/service-kit/clock.ts';

/** What is gathered before it is looked at. */
export type Bursts<Item, Answer> = {
  /**
   * Adds to the burst of a key, or begins one. The first request that still waits at its end has the answer, the others null. Rejects for
   * all of them with what `look` was rejected with. `signal`: the caller has gone.
   */
  add(key: string, items: readonly Item[], signal: AbortSignal): Promise<Answer | null>;
};

type Options<Item, Answer> = {
  clock: Clock;
  /** How long a burst gathers, ms. */
  gatherMs: number;
  /** Items of a burst; later ones are counted and not kept. */
  maxItems: number;
  /** Looks at a burst; one at a time of each key. `left`: how many more there were. */
  look(key: string, items: Item[], left: number): Promise<Answer>;
};

type Asking<Answer> = { signal: AbortSignal; resolve(answer: Answer | null): void; reject(error: unknown): void };
type Burst<Item, Answer> = { items: Item[]; left: number; asking: Asking<Answer>[] };

/** A burst that ends while the one before it is still being looked at gathers on until that is over. */
export function createBursts<Item, Answer>({ clock, gatherMs, maxItems, look }: Options<Item, Answer>): Bursts<Item, Answer> {
  const gathering = new Map<string, Burst<Item, Answer>>();
  const looking = new Map<string, Promise<void>>();

  async function end(key: string): Promise<void> {
    await looking.get(key);
    const burst = gathering.get(key);
    gathering.delete(key);
    if (burst === undefined) return;
    const work = settle(key, burst).finally(() => looking.delete(key));
    looking.set(key, work);
    await work;
  }

  async function settle(key: string, { items, left, asking }: Burst<Item, Answer>): Promise<void> {
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
        const burst = known ?? { items: [], left: 0, asking: [] };
        const room = maxItems - burst.items.length;
        burst.items.push(...items.slice(0, room));
        burst.left += Math.max(items.length - room, 0);
        burst.asking.push({ signal, resolve, reject });
        if (known !== undefined) return;
        gathering.set(key, burst);
        clock.after(gatherMs, () => void end(key));
      }),
  };
}
