import type { Clock } from '@svc/service-kit/clock.ts';
import { pause } from '@svc/connector-kit/retry.ts';

/** An event in the order in which it came. */
export type Queued<Event> = { at: number; event: Event };

/** What a platform pushes, for `followUpdates`, which polls: so it is given again until it is safe. */
export type EventQueue<Event> = {
  /** False when it is full: what comes is lost, until `onRoom`. */
  push(event: Event): boolean;
  /** As `poll` of `followUpdates`. */
  poll(after: number | string | null, waitMs: number, signal: AbortSignal): Promise<Queued<Event>[]>;
};

type Options<Event> = {
  clock: Clock;
  max: number;
  /** It is safe, and so is all before it. */
  onPassed(event: Event): void;
  /** After events were lost there is room again. */
  onRoom(): void;
};

/** Of them at once: as many as an ingress takes for one chat. */
const mostAtOnce = 150;

export function createEventQueue<Event>({ clock, max, onPassed, onRoom }: Options<Event>): EventQueue<Event> {
  let events: Queued<Event>[] = [];
  let next = 1;
  let hasLost = false;
  let wake = Promise.withResolvers<void>();

  function drop(after: number): void {
    const kept = events.findIndex(({ at }) => at > after);
    const passed = kept === -1 ? events : events.slice(0, kept);
    events = kept === -1 ? [] : events.slice(kept);
    for (const { event } of passed) onPassed(event);
    if (hasLost && events.length < max / 2) {
      hasLost = false;
      onRoom();
    }
  }

  return {
    push(event) {
      hasLost ||= events.length >= max;
      if (hasLost) return false;
      events.push({ at: next++, event });
      wake.resolve();
      return true;
    },
    async poll(after, waitMs, signal) {
      drop(Number(after ?? 0));
      if (events.length === 0 && waitMs > 0) {
        wake = Promise.withResolvers();
        const waited = new AbortController();
        await Promise.race([wake.promise, pause(clock, waitMs, AbortSignal.any([signal, waited.signal]))]);
        waited.abort();
      }
      return events.slice(0, mostAtOnce);
    },
  };
}
