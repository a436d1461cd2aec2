import { closeApp } from '@svc/service-kit/http/close-app.ts';
import { maskLogLines } from '@svc/service-kit/log.ts';
import type { RunningService, ServiceContext } from '@svc/service-kit/run-service.ts';
import { answerLocalhost } from './answer-localhost.ts';
import { createDashboardApp } from './app.ts';
import { createDashboardContext, type DashboardOptions } from './context.ts';

/** Listens, and builds the pages meanwhile when they are older than their sources. @throws when it cannot listen */
export async function startDashboard(
  service: ServiceContext,
  options: Partial<DashboardOptions> = {},
): Promise<RunningService & { built: Promise<void> }> {
  const context = createDashboardContext({ ...service, ...options });
  maskLogLines(context.knownSecrets.line);
  const app = createDashboardApp(context);
  const { bindHost, dashboardPort } = context.settings;
  const url = await app.listen({ host: bindHost, port: options.port ?? dashboardPort });
  const port = Number(new URL(url).port);
  const endLocalhost = bindHost === '127.0.0.1' ? await answerLocalhost(app.server, port) : () => undefined;
  const built = context.pages.build();
  return {
    url,
    port,
    built,
    async stop() {
      context.stopping.abort();
      endLocalhost();
      await Promise.all([closeApp(app, context.settings.stopTimeoutMs / 4), built]);
      await context.knownSecrets.close();
    },
  };
}
