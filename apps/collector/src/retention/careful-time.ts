import type { Clock } from '@svc/service-kit/clock.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { Database } from '@svc/store/database.ts';

const dayMs = 24 * 3_600_000;
const read = "SELECT value FROM fact WHERE name = 'retention_at'";
const keep = `INSERT INTO fact (name, value) VALUES ('retention_at', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value`;

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
    const last = (await db.get<{ value: number }>(read))?.value ?? now;
    const at = Math.min(now, Math.trunc(last + passed + dayMs));
    if (at < now)
      log.warn({ clock: now, used: at }, 'the clock is far ahead of the last look; old events are removed step by step');
    await db.run(keep, at);
    return at;
  };
}
