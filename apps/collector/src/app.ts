import { createApp, type App } from '@svc/service-kit/http/create-app.ts';
import type { CollectorContext } from './context.ts';
import { mountEventRoutes } from './event/event-routes.ts';
import { mountIngestRoutes } from './ingest/ingest-routes.ts';
import { mountSessionRoutes } from './session/session-routes.ts';
import { mountUsageRoutes } from './usage/usage-routes.ts';

export function createCollectorApp(context: CollectorContext): App {
  const { settings, version, log, commitQueue } = context;
  return createApp({
    service: 'collector',
    version,
    log,
    allowedHosts: [settings.bindHost, ...settings.allowedHosts],
    health: () => ({
      ingested: commitQueue.ingested,
      rejected: commitQueue.rejected,
      waiting: commitQueue.waiting,
      degraded: commitQueue.lastError === null ? [] : [`Events cannot be stored: ${commitQueue.lastError}`],
    }),
    routes(app) {
      mountIngestRoutes(app, context);
      mountEventRoutes(app, context);
      mountSessionRoutes(app, context);
      mountUsageRoutes(app, context);
    },
  });
}
