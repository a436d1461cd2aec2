import type { Clock } from '@svc/service-kit/clock.ts';

/** How far the updates of a platform have been received: while polls fail, earlier messages may still be on their way. */
export type Hearing = {
  /** Everything that the platform had at this time (of the clock's `elapsed`) has been received. */
  caughtUp(asOf: number): void;
  /**
   * Resolves when everything up to that time has been received; at once for platforms that do not report it, such as those that
   * push.
   */
  heard(asOf: number): Promise<void>;
};

/** If the platform is unreachable for longer than this, the wait ends. */
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
