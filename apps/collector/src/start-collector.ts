import type { RunningService, ServiceContext } from '@svc/service-kit/run-service.ts';
import { createCollectorApp } from './app.ts';
import { createCollectorContext } from './context.ts';

/** Opens the collector's database and listens. Throws when either fails. */
export async function startCollector(service: ServiceContext): Promise<RunningService> {
  const context = createCollectorContext(service);
  const app = createCollectorApp(context);
  const { bindHost, collectorPort } = service.settings;
  const url = await app.listen({ host: bindHost, port: collectorPort });
  return {
    url,
    port: Number(new URL(url).port),
    async stop() {
      await app.close();
      await context.close();
    },
  };
}
