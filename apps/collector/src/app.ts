import { createApp, type App } from '@svc/service-kit/http/create-app.ts';
import { createIntake } from '@svc/service-kit/intake/intake.ts';
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
import { mountOtelRoutes } from './otel/otel-routes.ts';
import { mountSearchRoutes } from './search/search-routes.ts';
import { mountSessionRoutes } from './session/session-routes.ts';
import { mountSystemRoutes } from './system/system-routes.ts';
import { mountUsageRoutes } from './usage/usage-routes.ts';

export function createCollectorApp(context: CollectorContext): App {
  const { settings, version, log, commitQueue, otel, coreMask, remoteUsers } = context;
  return createApp({
    service: 'collector',
    version,
    log,
    allowedHosts: [settings.bindHost, ...settings.allowedHosts],
    mask: context.knownSecrets.mask,
    remoteUsers,
    intake: createIntake(settings.dataDir),
    // Text that was stored before a secret was known is masked when it is read.
    maskAlso: (json, { url }) => (url.startsWith('/api/') ? coreMask.json(json) : Promise.resolve(json)),
    health: () => ({
      ingested: commitQueue.ingested,
      rejected: commitQueue.rejected,
      waiting: commitQueue.waiting,
      degraded: faultsOf(context),
      ...(otel.view().state === 'off' ? {} : { otel: otel.view() }),
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
      mountOtelRoutes(app, context);
      mountFeed(app, context);
      mountStreamRoutes(app, context);
    },
  });
}

function faultsOf({ commitQueue, ...parts }: CollectorContext): string[] {
  const stored = commitQueue.lastError === null ? null : `Events cannot be stored: ${commitQueue.lastError}`;
  const { otel, indexer, retention, sampler, transcripts, coreMask } = parts;
  const others = [otel, indexer, retention, sampler, transcripts, coreMask].map((part) => part.fault());
  return [parts.db.damage()?.message ?? null, stored, parts.knownSecrets.threadFault(), ...others].filter(
    (fault) => fault !== null,
  );
}
