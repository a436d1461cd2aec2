import type { Clock } from '@svc/service-kit/clock.ts';
import { pause } from '@svc/connector-kit/retry.ts';

/** An event with its position in the order of arrival. */
export type Queued<Event> = { at: number; event: Event };

/** Makes a platform's pushed events available to `followUpdates`, which polls, so that each is repeated until it is safe. */
export type EventQueue<Event> = {
  /** False when the queue is full: further events are lost until `onRoom`. */
  push(event: Event): boolean;
  /** Like `poll` of `followUpdates`. */
  poll(after: number | string | null, waitMs: number, signal: AbortSignal): Promise<Queued<Event>[]>;
};

type Options<Event> = {
  clock: Clock;
  max: number;
  /** The event is safe, and so are all before it. */
  onPassed(event: Event): void;
  /** There is room again after events were lost. */
  onRoom(): void;
};

/** Maximum per poll: as many as an ingress accepts for one chat. */
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
