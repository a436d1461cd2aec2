import type { EngineEvent } from './engine.ts';

export type EventQueue = AsyncIterable<EngineEvent> & {
  push(event: EngineEvent): void;
  /** No more events. What is queued is still given out. */
  end(): void;
  /** Settles when `end` was called. */
  readonly ended: Promise<void>;
};

/**
 * Turns callbacks into an async stream for one reader. Deltas that wait for a slow reader are joined to one, so the
 * queue grows with what the model does, not with how finely its text is cut.
 */
export function createEventQueue(): EventQueue {
  const queue: EngineEvent[] = [];
  const end = Promise.withResolvers<void>();
  let ended = false;
  let wake = () => {};
  return {
    ended: end.promise,
    push(event) {
      if (ended) return;
      const last = queue.at(-1);
      const joined = last && joinTexts(last, event);
      if (joined) queue[queue.length - 1] = joined;
      else queue.push(event);
      wake();
    },
    end() {
      ended = true;
      end.resolve();
      wake();
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        const event = queue.shift();
        if (event) yield event;
        else if (ended) return;
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
