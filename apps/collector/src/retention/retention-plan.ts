import type { Clock } from '@svc/service-kit/clock.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { Database } from '@svc/store/database.ts';
import { keepFact, readFact } from '../fact/facts.ts';

/** One pass over old events: those of some kinds, or of all but some, from before a time. */
export type RetentionPass = { name: string; days: number; kinds: readonly string[]; isAllBut: boolean };

export const sampleKind = 'system-sample';

/** Passes for these settings: one for what has no days of its own, one for each other number of days. */
export function retentionPlan(days: number, byKind: Readonly<Record<string, number>>): RetentionPass[] {
  const own = Object.entries(byKind).filter(([kind]) => kind !== sampleKind);
  const kindsByDays = Map.groupBy(own, ([, ownDays]) => ownDays);
  const passes = [...kindsByDays].map(([ownDays, entries]): RetentionPass => {
    const kinds = entries.map(([kind]) => kind).toSorted();
    return { name: `${ownDays}:${kinds.join(',')}`, days: ownDays, kinds, isAllBut: false };
  });
  const rest: RetentionPass = { name: `${days}:*`, days, kinds: own.map(([kind]) => kind).toSorted(), isAllBut: true };
  return [rest, ...passes].filter((pass) => pass.days > 0);
}

const dayMs = 24 * 3_600_000;

/**
 * The time by which things are too old. What is removed cannot be brought back, so a clock that was set forward is not
 * believed at once: from one look to the next this goes on by no more than a day beyond the time that really passed.
 */
export function createCarefulTime() {
  let lookedAt: number | null = null;
  return async (db: Pick<Database, 'get' | 'run'>, clock: Clock, log: Pick<Log, 'warn'>): Promise<number> => {
    const [now, elapsed] = [clock.now(), clock.elapsed()];
    const passed = lookedAt === null ? 0 : elapsed - lookedAt;
    lookedAt = elapsed;
    const last = (await readFact(db, 'retention_at')) ?? now;
    const at = Math.min(now, Math.trunc(last + passed + dayMs));
    if (at < now)
      log.warn({ clock: now, used: at }, 'the clock is far ahead of the last look; old events are removed step by step');
    await keepFact(db, 'retention_at', at);
    return at;
  };
}
