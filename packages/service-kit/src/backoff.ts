/** Pauses between attempts at something that keeps failing: from `firstMs`, each `factor` times the one before, at most `maxMs`. */
export type BackOff = {
  firstMs: number;
  maxMs: number;
  /** Default 2. */
  factor?: number;
  /**
   * Least and most share of the pause that is taken, so that many who failed together do not come back together. The
   * most may go past `maxMs`. Default: the pause itself.
   */
  jitter?: readonly [least: number, most: number];
};

/** The pause after so many failures in a row, ms: whole, and 0 after none. A success resets it, by a count of 0. */
export function backOffMs(
  { firstMs, maxMs, factor = 2, jitter: [least, most] = [1, 1] }: BackOff,
  failures: number,
  random: () => number = Math.random,
): number {
  if (failures <= 0) return 0;
  const base = Math.min(firstMs * factor ** (failures - 1), maxMs);
  return Math.round(base * (least + (most - least) * random()));
}
