import { availableParallelism } from 'node:os';
import type { Clock } from '@svc/service-kit/clock.ts';
import { within } from '@svc/service-kit/within.ts';

type Line = {
  clock: Pick<Clock, 'after'>;
  /** How many may load at once: with more, each would only take longer. */
  atOnce?: number;
};

/** By then an instance has loaded its code. If it still waits, for its platform for example, that need not delay the others. */
const patienceMs = 250;

/** Starts all in this order, at most `atOnce` at a time. One that takes longer than `patienceMs` no longer counts. Rejects when `start` does. */
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
