import { systemClock } from '@svc/service-kit/clock.ts';
import { readEnv } from '@svc/service-kit/config/settings.ts';
import { randomIds } from '@svc/service-kit/ids.ts';
import type { RunningService, ServiceContext } from '@svc/service-kit/run-service.ts';
import { createCoreApp } from './app.ts';
import { createCoreContext } from './context.ts';
import { openLinkServer } from './turn/link-server.ts';

/** Starts the core: context, connector link, HTTP. The engine is chosen in the background. */
export async function startCore({ settings, log, version }: ServiceContext): Promise<RunningService> {
  const context = await createCoreContext({ settings, log, clock: systemClock, ids: randomIds, env: readEnv(settings.root) });
  const app = createCoreApp(context, version);
  const url = await app.listen({ host: settings.bindHost, port: settings.corePort });
  const link = await openLinkServer(context, context.paths.coreSocket);
  context.events.service('started');
  context.engines.active().catch((error: unknown) => log.error({ err: error }, 'no engine could be chosen'));
  return {
    url,
    port: settings.corePort,
    async stop() {
      context.events.service('stopping');
      // Running turns get half of the time to finish; what is left is for ending engines and handing over telemetry.
      await context.turnQueue.close(settings.stopTimeoutMs / 4);
      context.feeds.closeAll();
      await link.close();
      await app.close();
      await context.close();
    },
  };
}
