import { createCarefulTime } from '@svc/service-kit/careful-time.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { CoreSettings } from '@svc/service-kit/config/process-settings.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { Database } from '@svc/store/database.ts';
import type { Outbox } from '../delivery/outbox.ts';
import type { EndedEngineSessions } from '../session/ended-engine-sessions.ts';
import type { ObservedStore } from '../session/observed-store.ts';
import type { SessionStore } from '../session/session-store.ts';
import type { TurnJournal } from './turn-journal.ts';

const hourMs = 60 * 60_000;
const dayMs = 24 * hourMs;
/** The outcome of deliveries is kept this long. */
const deliveryDays = 30;

const readPrunedAt = 'SELECT pruned_at FROM turn_mark';
const keepPrunedAt = 'UPDATE turn_mark SET pruned_at = ?';

type Deps = {
  db: Pick<Database, 'get' | 'run'>;
  settings: Pick<CoreSettings, 'historyDays'>;
  clock: Clock;
  log: Pick<Log, 'warn' | 'error'>;
  journal: Pick<TurnJournal, 'prune'>;
  observed: Pick<ObservedStore, 'prune'>;
  sessions: Pick<SessionStore, 'forgetIdleEngines'>;
  endedEngineSessions: Pick<EndedEngineSessions, 'removeSoon'>;
  outbox: Pick<Outbox, 'prune'>;
};

/**
 * Removes turns, and messages that were only seen, older than the operator's retention, every hour and in small steps.
 * The returned function stops it.
 */
export function pruneJournal(deps: Deps): () => void {
  const carefulTime = createCarefulTime(deps.clock);
  return deps.clock.every(hourMs, () => {
    prune(deps, carefulTime).catch((error: unknown) => deps.log.error({ err: error }, 'old turns could not be removed'));
  });
}

async function prune(deps: Deps, carefulTime: ReturnType<typeof createCarefulTime>): Promise<void> {
  const { settings, journal, observed, outbox, sessions, endedEngineSessions } = deps;
  const at = await timeOfLook(deps, carefulTime);
  const before = (days: number) => at - days * dayMs;
  while ((await outbox.prune(before(deliveryDays))) > 0);
  if (settings.historyDays === 0) return;
  while ((await journal.prune(before(settings.historyDays))) > 0);
  while ((await observed.prune(before(settings.historyDays))) > 0);
  // An engine must not remember longer than the service does.
  let key = '';
  do key = await sessions.forgetIdleEngines(before(settings.historyDays), key);
  while (key !== '');
  endedEngineSessions.removeSoon();
}

async function timeOfLook({ db, clock, log }: Deps, carefulTime: ReturnType<typeof createCarefulTime>): Promise<number> {
  const last = (await db.get<{ pruned_at: number | null }>(readPrunedAt))?.pruned_at ?? null;
  const [at, now] = [carefulTime(last), clock.now()];
  if (at < now)
    log.warn({ clock: now, used: at }, 'the clock jumped far ahead since the last run; old turns are removed step by step');
  await db.run(keepPrunedAt, at);
  return at;
}
