import type { Clock } from '@svc/service-kit/clock.ts';
import type { CoreSettings } from '@svc/service-kit/config/process-settings.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { Outbox } from '../delivery/outbox.ts';
import type { EndedEngineSessions } from '../session/ended-engine-sessions.ts';
import type { SessionStore } from '../session/session-store.ts';
import type { TurnJournal } from './turn-journal.ts';

const hourMs = 60 * 60_000;
const dayMs = 24 * hourMs;
/** What became of deliveries is kept this long. */
const deliveryDays = 30;

type Deps = {
  settings: Pick<CoreSettings, 'historyDays'>;
  clock: Clock;
  log: Pick<Log, 'error'>;
  journal: Pick<TurnJournal, 'prune'>;
  sessions: Pick<SessionStore, 'forgetIdleEngines'>;
  endedEngineSessions: Pick<EndedEngineSessions, 'removeSoon'>;
  outbox: Pick<Outbox, 'prune'>;
};

/** Removes what is older than the operator keeps, every hour and in small steps. The returned function ends it. */
export function pruneJournal(deps: Deps): () => void {
  return deps.clock.every(hourMs, () => {
    prune(deps).catch((error: unknown) => deps.log.error({ err: error }, 'old turns could not be removed'));
  });
}

async function prune({ settings, clock, journal, outbox, sessions, endedEngineSessions }: Deps): Promise<void> {
  const before = (days: number) => clock.now() - days * dayMs;
  while ((await outbox.prune(before(deliveryDays))) > 0);
  if (settings.historyDays === 0) return;
  while ((await journal.prune(before(settings.historyDays))) > 0);
  // An engine remembers no longer than the service does.
  let key = '';
  do key = await sessions.forgetIdleEngines(before(settings.historyDays), key);
  while (key !== '');
  endedEngineSessions.removeSoon();
}
