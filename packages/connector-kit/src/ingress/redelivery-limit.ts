import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';

/** How often each update was handed back to its platform, which delivers it again. */
export type RedeliveryLimit = {
  /** Counts one more; false when it was handed back too often. */
  allows(name: string): boolean;
  /** It was taken. */
  forget(name: string): void;
};

/** An update that has to be given again so often is skipped, or its chat would stand still. */
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
