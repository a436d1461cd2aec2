import { systemClock } from '@svc/service-kit/clock.ts';
import { closeApp } from '@svc/service-kit/http/close-app.ts';
import { maskLogLines } from '@svc/service-kit/log.ts';
import type { RunningService, ServiceContext } from '@svc/service-kit/run-service.ts';
import { watchDamage } from '@svc/store/check-database.ts';
import { createManagerApp } from './app.ts';
import { createManagerContext, type ManagerOptions } from './context.ts';
import { followKeysFiles, seedInstances } from './seed/seed-instances.ts';

/** Opens the database, finds the connector types, listens, and starts what is enabled. Throws when it cannot listen. */
export async function startManager(service: ServiceContext, options: Partial<ManagerOptions> = {}): Promise<RunningService> {
  const context = await createManagerContext({ ...service, ...options });
  const { settings, log, instances } = context;
  maskLogLines(context.knownSecrets.line);
  if (settings.managerToken === null) {
    const added = context.types.list().some(({ isAdded }) => isAdded) ? ', and so can added connectors' : '';
    log.warn(`SVC_MANAGER_TOKEN is not set: everyone on this machine can manage connectors${added}.`);
  }
  try {
    await seedInstances(context);
    await followKeysFiles(context);
    await context.announcer.open();
    const app = createManagerApp(context);
    const url = await app.listen({ host: settings.bindHost, port: settings.managerPort });
    void instances.startEnabled();
    const stopChecking = watchDamage(context.db, systemClock, (message) => {
      log.error(message);
      context.telemetry.emit({ kind: 'service', text: message, payload: { service: 'manager', what: 'database_damaged' } });
    });
    return {
      url,
      port: Number(new URL(url).port),
      async stop() {
        stopChecking();
        // Messages that are being sent get half of the stop timeout.
        await Promise.all([closeApp(app, settings.stopTimeoutMs / 2), context.supervisor.stopAll()]);
        await context.close();
      },
    };
  } catch (error) {
    await context.close();
    throw error;
  }
}
