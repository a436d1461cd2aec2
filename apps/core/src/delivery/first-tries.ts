import type { Clock } from '@svc/service-kit/clock.ts';
import type { SendOutcome } from './channel-sender.ts';
import type { StoredDelivery } from './delivery-store.ts';

/** Callers that wait for the first attempt of a delivery. */
export type FirstTries = {
  /** The outcome, or that the delivery still waits after `withinMs`. */
  wait(delivery: StoredDelivery, withinMs: number): Promise<SendOutcome>;
  tried(id: string, outcome: SendOutcome): void;
};

export function createFirstTries(clock: Pick<Clock, 'after'>): FirstTries {
  const waiting = new Map<string, Set<(outcome: SendOutcome) => void>>();

  return {
    wait(delivery, withinMs) {
      const known = outcomeOf(delivery);
      if (known !== null) return Promise.resolve(known);
      return new Promise((resolve) => {
        const others = waiting.get(delivery.id) ?? new Set();
        waiting.set(delivery.id, others);
        const settle = (outcome: SendOutcome) => {
          cancel();
          resolve(outcome);
        };
        others.add(settle);
        const cancel = clock.after(withinMs, () => {
          others.delete(settle);
          if (others.size === 0) waiting.delete(delivery.id);
          resolve({ delivered: false, permanent: false, error: 'the channel has not answered yet; the delivery is tried again' });
        });
      });
    },

    tried(id, outcome) {
      for (const settle of waiting.get(id) ?? []) settle(outcome);
      waiting.delete(id);
    },
  };
}

/** Null for a delivery that was not tried yet. */
function outcomeOf({ state, error, attempts }: StoredDelivery): SendOutcome | null {
  if (state === 'failed') return { delivered: false, permanent: true, error: error ?? 'it has no route' };
  if (state === 'delivered') return { delivered: true };
  return attempts > 0 ? { delivered: false, permanent: false, error: error ?? 'it is tried again' } : null;
}
