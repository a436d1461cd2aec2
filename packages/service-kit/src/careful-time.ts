import type { Clock } from './clock.ts';

const dayMs = 24 * 3_600_000;

/**
 * The time by which things are too old. What is removed cannot be brought back, so a clock that was set forward is not
 * believed at once: from one look to the next this goes on by no more than a day beyond the time that really passed. `last`: what the look
 * before gave, also in an earlier process; null for the first, which believes the clock.
 */
export function createCarefulTime({ now, elapsed }: Pick<Clock, 'now' | 'elapsed'>): (last: number | null) => number {
  let lookedAt: number | null = null;
  return (last) => {
    const at = elapsed();
    const passed = lookedAt === null ? 0 : at - lookedAt;
    lookedAt = at;
    return Math.min(now(), Math.trunc((last ?? now()) + passed + dayMs));
  };
}
