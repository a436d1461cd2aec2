import type { VersionInfo } from '@svc/contract/service.ts';
import { createApp, type App } from '@svc/service-kit/http/create-app.ts';
import type { CoreContext } from './context.ts';
import { mountEngineRoutes } from './engine/engine-routes.ts';
import { mountFeedRoutes } from './feed/feed-routes.ts';
import { mountQueryRoutes } from './query/query-routes.ts';
import { mountSessionRoutes } from './session/session-routes.ts';
import { mountSteeringRoutes } from './steering/steering-routes.ts';
import { mountTrustRoutes } from './trust/trust-routes.ts';
import { mountTurnRoutes } from './turn/turn-routes.ts';

/** The core's HTTP side. */
export function createCoreApp(context: CoreContext, version: VersionInfo): App {
  const { settings, log } = context;
  return createApp({
    service: 'core',
    version,
    log,
    allowedHosts: [settings.bindHost, ...settings.allowedHosts],
    health: () => ({
      active: context.turnQueue.counts().running,
      waiting: context.turnQueue.counts().waiting,
      telemetry: context.telemetry.status(),
      degraded: [context.trust.fault(), context.knownSecrets.fault()].filter((fault) => fault !== null),
    }),
    routes: (app) => {
      mountTurnRoutes(app, context);
      mountSessionRoutes(app, context);
      mountSteeringRoutes(app, context);
      mountTrustRoutes(app, context);
      mountEngineRoutes(app, context);
      mountFeedRoutes(app, context);
      mountQueryRoutes(app, context);
    },
  });
}
