import type { Phase } from './child-states.ts';

/** Those who wait for a child to get somewhere. */
export type PhaseWaiters = {
  /** Resolves at once when it is there already. Never rejects. */
  until(isThere: (phase: Phase) => boolean): Promise<void>;
  /** The child has come to the phase that it has now. */
  look(): void;
};

export function createPhaseWaiters(phase: () => Phase): PhaseWaiters {
  let waiting: { isThere: (phase: Phase) => boolean; resolve: () => void }[] = [];
  return {
    until(isThere) {
      if (isThere(phase())) return Promise.resolve();
      return new Promise((resolve) => waiting.push({ isThere, resolve }));
    },
    look() {
      const done = waiting.filter(({ isThere }) => isThere(phase()));
      waiting = waiting.filter((waiter) => !done.includes(waiter));
      for (const { resolve } of done) resolve();
    },
  };
}
