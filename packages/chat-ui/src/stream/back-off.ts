const firstMs = 1000;
const maxMs = 30_000;

/** How long to wait before each next try, ms: twice as long each time, a little less by chance, so that many pages do not come at once. */
export function createBackOff() {
  let wait = firstMs;
  return {
    next(): number {
      const now = wait * (0.5 + Math.random() / 2);
      wait = Math.min(wait * 2, maxMs);
      return now;
    },
    /** There is something new to hope for: the next try is soon. */
    reset(): void {
      wait = firstMs;
    },
  };
}
