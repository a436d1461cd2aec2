import { availableParallelism } from 'node:os';
import type { Clock } from '@svc/service-kit/clock.ts';
import { within } from '@svc/service-kit/within.ts';

type Line = {
  clock: Pick<Clock, 'after'>;
  /** How many may be loading at once: more would only take longer, each of them. */
  atOnce?: number;
};

/** By then one has had the processor to load its code; what it waits for now, such as its platform, keeps nobody else. */
const patienceMs = 250;

/** Starts one after the other, in this order: the next begins when one before has turned out, or has had its time. Rejects when `start` does. */
export async function startInLine<T>(
  all: readonly T[],
  start: (each: T) => Promise<{ done: Promise<void> }>,
  { clock, atOnce = availableParallelism() }: Line,
): Promise<void> {
  const loading = new Set<Promise<void>>();
  for (const each of all) {
    if (loading.size >= atOnce) await Promise.race(loading);
    const { done } = await start(each);
    const place = within(done, patienceMs, clock).then(() => void loading.delete(place));
    loading.add(place);
  }
}
