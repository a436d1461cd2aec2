import { closeApp } from '@svc/service-kit/http/close-app.ts';
import { systemClock } from '@svc/service-kit/clock.ts';
import type { RunningService, ServiceContext } from '@svc/service-kit/run-service.ts';
import { watchDamage } from '@svc/store/check-database.ts';
import { createVaultApp } from './app.ts';
import { createVaultContext } from './context.ts';
import { keepMemoryPrivate } from './keep-memory-private.ts';

/** Opens the vault's file and listens, sealed. Throws when either fails. */
export async function startVault(service: ServiceContext, hidesMemory = keepMemoryPrivate): Promise<RunningService> {
  if (!hidesMemory())
    service.log.warn('Core dumps of this process would contain its keys. docs/vault.md explains how to turn them off.');
  const context = await createVaultContext(service);
  const app = createVaultApp(context);
  const { bindHost, vaultPort } = service.settings;
  const url = await app.listen({ host: bindHost, port: vaultPort });
  const stopChecking = watchDamage(context.db, systemClock, (message) => service.log.error(message));
  return {
    url,
    port: vaultPort,
    async stop() {
      stopChecking();
      await closeApp(app, service.settings.stopTimeoutMs / 4);
      await context.close();
    },
  };
}
