import type { Clock } from '@svc/service-kit/clock.ts';

/** How far the updates of a platform have come: what was sent before may still be on its way while polls fail. */
export type Hearing = {
  /** All that the platform had at this time (of the clock's `elapsed`) was given. */
  caughtUp(asOf: number): void;
  /** Resolves when all of that time is here. At once where nobody says how far it is, as with platforms that push. */
  heard(asOf: number): Promise<void>;
};

/** Of a platform that is away for longer nothing is waited for. */
const longestMs = 30_000;

export function createHearing(clock: Pick<Clock, 'after'>): Hearing {
  let latest: number | null = null;
  const waiting = new Set<{ asOf: number; end(): void }>();
  return {
    caughtUp(asOf) {
      latest = Math.max(asOf, latest ?? asOf);
      for (const entry of waiting) if (entry.asOf <= latest) entry.end();
    },
    heard: (asOf) =>
      new Promise((resolve) => {
        if (latest === null || latest >= asOf) return resolve();
        const entry = {
          asOf,
          end() {
            cancel();
            waiting.delete(entry);
            resolve();
          },
        };
        const cancel = clock.after(longestMs, () => entry.end());
        waiting.add(entry);
      }),
  };
}
