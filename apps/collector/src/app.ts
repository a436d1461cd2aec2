import { createApp, type App } from '@svc/service-kit/http/create-app.ts';
import type { CollectorContext } from './context.ts';
import { mountBriefRoutes } from './brief/brief-routes.ts';
import { mountControlRoutes } from './control/control-routes.ts';
import { mountEventRoutes } from './event/event-routes.ts';
import { mountFeed } from './feed/mount-feed.ts';
import { mountStreamRoutes } from './feed/stream-routes.ts';
import { mountIngestRoutes } from './ingest/ingest-routes.ts';
import { mountMapRoutes } from './map/map-routes.ts';
import { mountMetricsRoutes } from './metrics/metrics-routes.ts';
import { mountNotificationRoutes } from './notification/notification-routes.ts';
import { mountSearchRoutes } from './search/search-routes.ts';
import { mountSessionRoutes } from './session/session-routes.ts';
import { mountSystemRoutes } from './system/system-routes.ts';
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
      mountMapRoutes(app, context);
      mountSearchRoutes(app, context);
      mountSystemRoutes(app, context);
      mountNotificationRoutes(app, context);
      mountBriefRoutes(app, context);
      mountControlRoutes(app, context);
      mountMetricsRoutes(app, context);
      mountFeed(app, context);
      mountStreamRoutes(app, context);
    },
  });
}
