import { createApp, type App } from '@svc/service-kit/http/create-app.ts';
import { createIntake } from '@svc/service-kit/intake/intake.ts';
import { mountConnectorTypeRoutes } from './connector-type/connector-type-routes.ts';
import type { ManagerContext } from './context.ts';
import { mountInstanceRoutes } from './instance/instance-routes.ts';
import { mountOutboundRoutes } from './outbound/outbound-routes.ts';

export type AppContext = Pick<
  ManagerContext,
  | 'settings'
  | 'version'
  | 'log'
  | 'types'
  | 'instances'
  | 'knownSecrets'
  | 'coreMask'
  | 'sender'
  | 'announcer'
  | 'channels'
  | 'caller'
  | 'bearerAuth'
  | 'db'
  | 'paths'
  | 'supervisor'
  | 'telemetry'
>;

export function createManagerApp(context: AppContext): App {
  const { settings, version, log, types, bearerAuth, knownSecrets, coreMask } = context;
  return createApp({
    service: 'manager',
    version,
    log,
    allowedHosts: [settings.bindHost, ...settings.allowedHosts],
    mask: knownSecrets.mask,
    // These responses contain what instances said, and their configs.
    maskAlso: (json, { method, url }) =>
      method === 'GET' && url.startsWith('/instances') ? coreMask.json(json) : Promise.resolve(json),
    intake: createIntake(settings.dataDir),
    health: () => ({
      types: types.list().map(({ meta }) => meta.type),
      instances_down: context.supervisor.down(),
      telemetry: context.telemetry.status(),
      notices: context.telemetry.notices(),
      degraded: degradedOf(context),
    }),
    routes(app) {
      app.addHook('onRequest', async (request) => {
        if (request.routeOptions.url !== '/health') await bearerAuth(request);
      });
      mountConnectorTypeRoutes(app, context);
      mountInstanceRoutes(app, context);
      mountOutboundRoutes(app, context);
    },
  });
}

function degradedOf({ types, knownSecrets, coreMask, db, paths, supervisor, telemetry }: AppContext): string[] {
  const fault = db.fault();
  const storage =
    db.damage()?.message ?? (fault === null ? null : `cannot write to ${paths.root} (${fault}), so changes are refused`);
  return [
    ...types.problems(),
    knownSecrets.fault(),
    knownSecrets.threadFault(),
    coreMask.fault(),
    storage,
    telemetry.fault(),
    ...supervisor.faults(),
  ].filter((each) => each !== null);
}
