import { createApp, type App } from '@svc/service-kit/http/create-app.ts';
import { createIntake } from '@svc/service-kit/intake/intake.ts';
import { mountChatRoutes } from './chat/chat-routes.ts';
import type { DashboardContext } from './context.ts';
import { mountLiveRoutes } from './live/live-routes.ts';
import { mountLoginRoutes } from './login/login-routes.ts';
import { requireOwnPage } from './login/own-page.ts';
import { mountProxyRoutes } from './proxy/proxy-routes.ts';
import { mountSiteRoutes } from './site/site-routes.ts';

export function createDashboardApp(context: DashboardContext): App {
  const { settings, version, log, knownSecrets, pages } = context;
  const app = createApp({
    service: 'dashboard',
    version,
    log,
    allowedHosts: [settings.bindHost, ...settings.allowedHosts],
    mask: knownSecrets.mask,
    intake: createIntake(settings.dataDir),
    health: () => ({
      pages: pages.state(),
      degraded: [pages.fault(), knownSecrets.threadFault()].filter((fault) => fault !== null),
    }),
    routes(app) {
      app.addHook('onRequest', requireOwnPage);
      mountLoginRoutes(app, context);
      mountProxyRoutes(app, context);
      mountLiveRoutes(app, context);
      mountChatRoutes(app, context);
      mountSiteRoutes(app, context);
    },
  });
  return app;
}
