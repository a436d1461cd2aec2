/** Pauses between attempts at something that keeps failing: from `firstMs`, each `factor` times the one before, at most `maxMs`. */
export type BackOff = {
  firstMs: number;
  maxMs: number;
  /** Default 2. */
  factor?: number;
  /**
   * Random factor of the pause, between these two numbers, so that clients that failed together do not retry together. The
   * result may exceed `maxMs`. Default: 1.
   */
  jitter?: readonly [least: number, most: number];
};

/** The pause after this many failures in a row, in whole ms; 0 after none. */
export function backOffMs(
  { firstMs, maxMs, factor = 2, jitter: [least, most] = [1, 1] }: BackOff,
  failures: number,
  random: () => number = Math.random,
): number {
  if (failures <= 0) return 0;
  const base = Math.min(firstMs * factor ** (failures - 1), maxMs);
  return Math.round(base * (least + (most - least) * random()));
}
