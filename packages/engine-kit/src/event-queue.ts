import type { EngineEvent } from './engine.ts';
import { tooMuchWaits } from './output-limits.ts';

export type EventQueue = AsyncIterable<EngineEvent> & {
  push(event: EngineEvent): void;
  /** Ends the stream. Queued events are still delivered. */
  end(): void;
  /** `overflown`: too many events waited to be read, which the last event reports. */
  readonly state: 'open' | 'ended' | 'overflown';
  /** Settles when `end` is called. */
  readonly ended: Promise<void>;
};

/** Limits of what may wait for the reader, in characters and events: more than any program writes while the reader is busy. */
const maxWaiting = { chars: 64 * 1024 ** 2, events: 100_000 };

/**
 * Turns callbacks into an async stream for one reader. Deltas that wait for a slow reader are joined, so the queue grows with the model's
 * output, not with the number of its pieces. Beyond its limits, it ends with a failure.
 */
export function createEventQueue(): EventQueue {
  const queue: EngineEvent[] = [];
  const end = Promise.withResolvers<void>();
  let state: EventQueue['state'] = 'open';
  let waiting = 0;
  let wake = () => {};
  const close = (as: 'ended' | 'overflown') => {
    if (state === 'open') state = as;
    end.resolve();
    wake();
  };
  return {
    ended: end.promise,
    get state() {
      return state;
    },
    push(event) {
      if (state !== 'open') return;
      waiting += 'text' in event ? event.text.length : 0;
      if (waiting > maxWaiting.chars || queue.length >= maxWaiting.events) {
        queue.push({ type: 'failed', failure: tooMuchWaits });
        return close('overflown');
      }
      const last = queue.at(-1);
      const joined = last && joinTexts(last, event);
      if (joined) queue[queue.length - 1] = joined;
      else queue.push(event);
      wake();
    },
    end: () => close('ended'),
    async *[Symbol.asyncIterator]() {
      for (;;) {
        const event = queue.shift();
        if (event && 'text' in event) waiting -= event.text.length;
        if (event) yield event;
        else if (state !== 'open') return;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}

function joinTexts(last: EngineEvent, event: EngineEvent): EngineEvent | null {
  if (last.type === 'delta' && event.type === 'delta') return { type: 'delta', text: last.text + event.text };
  if (last.type === 'thinking' && event.type === 'thinking') return { type: 'thinking', text: last.text + event.text };
  return null;
}
