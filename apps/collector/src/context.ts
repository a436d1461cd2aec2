import { systemClock, type Clock } from '@svc/service-kit/clock.ts';
import { dataPaths, makePrivateDir } from '@svc/service-kit/config/data-dir.ts';
import { createBearerAuth } from '@svc/service-kit/http/bearer-auth.ts';
import { randomIds, type Ids } from '@svc/service-kit/ids.ts';
import type { ServiceContext } from '@svc/service-kit/run-service.ts';
import { openCollectorDb } from './db/open-collector-db.ts';
import { CommitQueue } from './ingest/commit-queue.ts';
import { createEventsWriter } from './ingest/write-events.ts';

export type CollectorContext = ReturnType<typeof createCollectorContext>;

export type CollectorOptions = ServiceContext & { clock?: Clock; ids?: Ids };

/** Everything the collector's routes need, in the order it is opened; `close` after the last request was answered. */
export function createCollectorContext({ settings, log, version, clock = systemClock, ids = randomIds }: CollectorOptions) {
  if (settings.insightsToken === null)
    log.warn('SVC_INSIGHTS_TOKEN is not set: everyone on this machine can read and send events.');
  makePrivateDir(settings.dataDir);
  const { db, checkpointer } = openCollectorDb(dataPaths(settings.dataDir).collectorDb, clock, log);
  const write = createEventsWriter(db);
  const commitQueue = new CommitQueue({
    write(events) {
      write(events);
      checkpointer.committed();
    },
    pause: () => checkpointer.pause(),
    defaults: () => ({ now: clock.now(), nextId: () => ids.next('evt') }),
    log,
  });
  return {
    settings,
    log,
    version,
    clock,
    db,
    commitQueue,
    readAuth: createBearerAuth(settings.insightsToken, 'SVC_INSIGHTS_TOKEN'),
    async close() {
      await checkpointer.close();
      await db.close();
    },
  };
}
