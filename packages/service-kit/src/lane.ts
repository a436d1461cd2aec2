/** Runs work when there is a place for it. */
export type Lane = <T>(work: () => Promise<T>) => Promise<T>;

/** Runs so many works at once, the others in the order they came. How many may wait is for its user to bound. */
export function createLane(atOnce: number): Lane {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running < atOnce) running++;
    else await new Promise<void>((resolve) => void waiting.push(resolve)); // the place is handed over
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  };
}
