import type { Clock } from './clock.ts';

const dayMs = 24 * 3_600_000;

/**
 * The current time for deciding what is old enough to be removed. A removal cannot be undone, so a clock that was set forward is not
 * trusted at once: from one call to the next, the result advances by at most a day more than the time that really passed. `last`: the
 * previous result, which may be from an earlier process; null for the first call, which trusts the clock.
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
