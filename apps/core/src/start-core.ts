import { setImmediate as nextTick, setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '@svc/service-kit/clock.ts';
import { readEnv } from '@svc/service-kit/config/settings.ts';
import { randomIds } from '@svc/service-kit/ids.ts';
import type { RunningService, ServiceContext } from '@svc/service-kit/run-service.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { createCoreApp } from './app.ts';
import { createCoreContext } from './context.ts';
import { keepJournalSmall } from './turn/keep-journal-small.ts';
import { recoverTurns } from './turn/recover-turns.ts';
import { openLinkServer } from './turn/link-server.ts';

/** Starts the core: context, connector link, HTTP. The engine is chosen in the background. */
export async function startCore({ settings, log, version }: ServiceContext): Promise<RunningService> {
  const context = await createCoreContext({ settings, log, clock: systemClock, ids: randomIds, env: readEnv(settings.root) });
  // First, or it would take up what the recovery pushes as well.
  await context.outbox.start();
  await recoverTurns(context);
  const app = createCoreApp(context, version);
  const url = await app.listen({ host: settings.bindHost, port: settings.corePort });
  const link = await openLinkServer(context, context.paths.coreSocket);
  context.events.service('started');
  context.engines.active().catch((error: unknown) => log.error({ err: error }, 'no engine could be chosen'));
  const stopPruning = keepJournalSmall(context);
  return {
    url,
    port: settings.corePort,
    async stop() {
      context.events.service('stopping');
      stopPruning();
      // Running turns get half of the time to finish; what is left is for ending engines and handing over telemetry.
      context.bursts.close();
      await context.turnQueue.close(settings.stopTimeoutMs / 4);
      await nextTick(); // turns that ended just now say so to their callers
      context.feeds.closeAll();
      await Promise.race([link.close(), sleep(settings.stopTimeoutMs / 8)]);
      await closeApp(app, settings.stopTimeoutMs / 8);
      await context.close();
    },
  };
}

/** Lets open requests end, but not for ever: a caller that sends half a body or never reads is cut off. */
async function closeApp(app: App, deadlineMs: number): Promise<void> {
  const closed = app.close();
  await Promise.race([closed, sleep(deadlineMs)]);
  app.server.closeAllConnections();
  await closed;
}
