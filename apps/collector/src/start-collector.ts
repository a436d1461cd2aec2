import { homedir } from 'node:os';
import { closeApp } from '@svc/service-kit/http/close-app.ts';
import { systemClock } from '@svc/service-kit/clock.ts';
import { readEnv } from '@svc/service-kit/config/env-file.ts';
import type { RunningService, ServiceContext } from '@svc/service-kit/run-service.ts';
import { watchDamage } from '@svc/store/check-database.ts';
import { createCollectorApp } from './app.ts';
import { createCollectorContext } from './context.ts';
import { watchReleases } from './update/watch-releases.ts';
import { transcriptRoots } from '@svc/service-kit/transcript/transcript-roots.ts';

/** Opens the collector's database and listens. Throws when either fails. */
export async function startCollector(service: ServiceContext): Promise<RunningService> {
  const { engineHomes } = service.settings;
  const context = createCollectorContext({
    ...service,
    transcriptRoots: transcriptRoots(engineHomes, engineHomes.HOME ?? homedir()),
  });
  const app = createCollectorApp(context);
  const { bindHost, collectorPort } = service.settings;
  const url = await app.listen({ host: bindHost, port: collectorPort });
  void context.transcripts.start();
  const stopChecking = watchDamage(context.db, systemClock, (message) => service.log.error(message));
  const releases = watchReleases({ ...service, env: readEnv(service.settings.root), clock: systemClock });
  // Loading its libraries blocks the process for a while, so it first reports that it is ready.
  setImmediate(() => context.otel.start());
  return {
    url,
    port: Number(new URL(url).port),
    async stop() {
      stopChecking();
      releases.close();
      await closeApp(app, service.settings.stopTimeoutMs / 4);
      await context.close();
    },
  };
}
