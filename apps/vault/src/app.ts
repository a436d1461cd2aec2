import { createApp, type App } from '@svc/service-kit/http/create-app.ts';
import { noMask } from '@svc/service-kit/redaction/outbound-mask.ts';
import { createIntake } from '@svc/service-kit/intake/intake.ts';
import { mountAccessRoutes } from './access/access-routes.ts';
import { mountAgentRoutes } from './agent/agent-routes.ts';
import type { VaultContext } from './context.ts';
import { mountCredentialRoutes } from './credential/credential-routes.ts';
import { mountSealRoutes } from './seal/seal-routes.ts';
import { mountWatchRoutes } from './seal/watch-routes.ts';
import { mountSiloRoutes } from './silo/silo-routes.ts';
import { mountTokenRoutes } from './token/token-routes.ts';

const bodyLimit = 512 * 1024;

export function createVaultApp(context: VaultContext): App {
  const { settings, version, log, keyring, inventory } = context;
  const app = createApp({
    service: 'vault',
    version,
    log,
    bodyLimit,
    // The responses of the vault contain secrets on purpose. Its log is masked like any other.
    mask: noMask,
    allowedHosts: [settings.bindHost, ...settings.allowedHosts],
    intake: createIntake(settings.dataDir),
    health: () => ({
      sealed: keyring.isSealed(),
      degraded: [context.db.damage()?.message ?? null].filter((fault) => fault !== null),
      notices: keyring.isSealed()
        ? ['The vault is sealed and gives out no secrets. Open it: ./svc vault unseal']
        : inventory.faults(),
    }),
    routes(app) {
      mountSealRoutes(app, context);
      mountWatchRoutes(app, { ...context, mask: noMask });
      mountAgentRoutes(app, context);
      mountCredentialRoutes(app, context);
      mountTokenRoutes(app, context);
      mountSiloRoutes(app, context);
      mountAccessRoutes(app, context);
    },
  });
  app.addHook('onSend', async (_request, reply) => void reply.header('cache-control', 'no-store'));
  return app;
}
