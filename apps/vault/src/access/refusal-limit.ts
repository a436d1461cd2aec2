import type { Clock } from '@svc/service-kit/clock.ts';

/** How many refusals of one actor got no entry of their own. */
export type RefusalSum = { actor: string; count: number };

export type RefusalLimit = {
  /** Whether this refusal gets an entry of its own; otherwise it is counted. */
  takes(actor: string): boolean;
  /** Reports the counts that are still open. */
  close(): void;
};

const windowMs = 60_000;
export const maxPerWindow = 60;

/** Sixty refusals a minute of each actor get an entry each; `onSum` gets the number of further ones when the minute is over. */
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
