import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';

/** Counts how often each update was handed back to its platform, which delivers it again. */
export type RedeliveryLimit = {
  /** Counts one more; false when the limit is exceeded. */
  allows(name: string): boolean;
  /** The update was accepted. */
  forget(name: string): void;
};

/** An update that would need more redeliveries is skipped, because it would block its chat. */
const maxRedeliveries = 20;
const maxRemembered = 1000;

export function createRedeliveryLimit(): RedeliveryLimit {
  const timesByName = new Map<string, number>();
  return {
    allows(name) {
      const times = 1 + (timesByName.get(name) ?? 0);
      timesByName.delete(name);
      if (times > maxRedeliveries) return false;
      timesByName.set(name, times);
      forgetOldest(timesByName, maxRemembered);
      return true;
    },
    forget: (name) => void timesByName.delete(name),
  };
}
