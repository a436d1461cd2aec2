/** How often each update was given back. */
export type GiveBacks = {
  /** Counts one more; false when it was given back too often. */
  may(name: string): boolean;
  /** It was taken. */
  forget(name: string): void;
};

/** An update that has to be given again so often is skipped, or its chat would stand still. */
const maxGivenBack = 20;
const maxRemembered = 1000;

export function createGiveBacks(): GiveBacks {
  const givenBack = new Map<string, number>();
  return {
    may(name) {
      const times = 1 + (givenBack.get(name) ?? 0);
      givenBack.delete(name);
      if (times > maxGivenBack) return false;
      givenBack.set(name, times);
      for (const oldest of givenBack.keys()) if (givenBack.size > maxRemembered) givenBack.delete(oldest);
      return true;
    },
    forget: (name) => void givenBack.delete(name),
  };
}
