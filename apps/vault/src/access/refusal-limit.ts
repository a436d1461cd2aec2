import type { Clock } from '@svc/service-kit/clock.ts';

/** What of one actor was refused without an entry of its own. */
export type RefusalSum = { actor: string; count: number };

export type RefusalLimit = {
  /** Whether this refusal gets an entry of its own; it is counted otherwise. */
  takes(actor: string): boolean;
  /** Sums up what is still counted. */
  close(): void;
};

const windowMs = 60_000;
export const maxPerWindow = 60;

/** Sixty refusals a minute of each actor are entered one by one; `onSum` gets how many more there were, once the minute is over. */
export function createRefusalLimit(clock: Clock, onSum: (sum: RefusalSum) => void): RefusalLimit {
  const windows = new Map<string, { count: number; end: () => void }>();

  const sumUp = (actor: string) => {
    const count = (windows.get(actor)?.count ?? 0) - maxPerWindow;
    windows.delete(actor);
    if (count > 0) onSum({ actor, count });
  };
  return {
    takes(actor) {
      const window = windows.get(actor) ?? { count: 0, end: clock.after(windowMs, () => sumUp(actor)) };
      windows.set(actor, window);
      return ++window.count <= maxPerWindow;
    },
    close() {
      for (const [actor, { end }] of windows) {
        end();
        sumUp(actor);
      }
    },
  };
}
