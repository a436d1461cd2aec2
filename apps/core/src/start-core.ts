import { existsSync } from 'node:fs';
import { setImmediate as nextTick, setTimeout as sleep } from 'node:timers/promises';
import { closeApp } from '@svc/service-kit/http/close-app.ts';
import { systemClock } from '@svc/service-kit/clock.ts';
import { readEnv } from '@svc/service-kit/config/env-file.ts';
import { isDeadlyExit, lastExitVariable } from '@svc/service-kit/exit-codes.ts';
import { randomIds } from '@svc/service-kit/ids.ts';
import { maskLogLines } from '@svc/service-kit/log.ts';
import { restorePaths } from '@svc/service-kit/restore/restore-paths.ts';
import type { RunningService, ServiceContext } from '@svc/service-kit/run-service.ts';
import { watchDamage } from '@svc/store/check-database.ts';
import { DamagedDatabase } from '@svc/store/damage.ts';
import { createCoreApp } from './app.ts';
import { maintainBackups } from './backup/maintain-backups.ts';
import { maintainCheckouts } from './checkout/maintain-checkouts.ts';
import { createCoreContext } from './context.ts';
import { UnusableDb } from './db/open-core-db.ts';
import { startDegradedCore } from './degraded-core.ts';
import { checkEngine } from './engine/check-engine.ts';
import { noteWorth } from './instance/instance-worth.ts';
import { forgetOnceConversations } from './session/forget-once.ts';
import { openLinkServer } from './turn/link-server.ts';
import { pruneJournal } from './turn/prune-journal.ts';
import { maintainUploads } from './upload/maintain-uploads.ts';

/** Starts the core; if the database cannot be used, a degraded core that denies everybody and says why. */
export async function startCore(service: ServiceContext): Promise<RunningService> {
  checkRestored(service);
  try {
    return await startOpenCore(service);
  } catch (error) {
    if (!(error instanceof UnusableDb || error instanceof DamagedDatabase)) throw error;
    service.log.error({ err: error }, `everybody is denied: ${error.message}`);
    return startDegradedCore(service, error.message);
  }
}

/** A core that is started on its own after an interrupted restore would work on a mix of old and restored data. */
function checkRestored({ settings }: Pick<ServiceContext, 'settings'>): void {
  if (!existsSync(restorePaths(settings.dataDir).journal)) return;
  throw new Error(`A restore in ${settings.dataDir} is half done. Start the service with ./svc up, which completes it.`);
}

/** Starts the context, the connector link and HTTP. The engine is chosen in the background. */
async function startOpenCore({ settings, log, version, remoteUsers }: ServiceContext): Promise<RunningService> {
  const env = readEnv(settings.root);
  const context = await createCoreContext({ settings, log, clock: systemClock, ids: randomIds, env, remoteUsers });
  maskLogLines(context.knownSecrets.line);
  try {
    // First, because it would otherwise also load what the recovery pushes.
    await context.outbox.load();
    // Before messages are accepted: those for a session in a terminal are only observed.
    await context.terminals.recover();
    await context.pipeline.recover({ isDeadly: isDeadlyExit(env[lastExitVariable]) });
    await context.terminalWords.resume();
    // Now it is known which replies connectors still fetch.
    context.outbox.start(context.pipeline.pendingAcks);
  } catch (error) {
    await context.close();
    throw error;
  }
  let linkFault = (): string | null => null;
  const app = createCoreApp(context, version, () => linkFault());
  const url = await app.listen({ host: settings.bindHost, port: settings.corePort });
  const link = await openLinkServer(context, context.paths.coreSocket);
  linkFault = link.fault;
  // After other processes can report secrets to this core, so that none is missed in between.
  void context.connectorSecrets.learnAll();
  context.events.service('started');
  context.engineUpdates.start((active) => checkEngine(context, active));
  context.watchModelServers();
  context.engines.active().catch((error: unknown) => log.error({ err: error }, 'no engine could be chosen'));
  const stopPruning = pruneJournal(context);
  const stopForgetting = forgetOnceConversations(context);
  const stopSweeping = maintainUploads(context);
  context.linkLogin().catch((error: unknown) => log.error({ err: error }, 'the login could not be linked'));
  context.erasures.resume().catch((error: unknown) => log.error({ err: error }, 'people could not be erased'));
  context.silos.sweep().catch((error: unknown) => log.error({ err: error }, 'the silos could not be swept'));
  const stopCheckouts = maintainCheckouts(context);
  const stopBackups = maintainBackups(context);
  const worth = noteWorth({ ...context, file: context.paths.instanceWorth });
  const stopChecking = watchDamage(context.db, systemClock, (message) => {
    log.error(message);
    context.events.damaged(message);
  });
  return {
    url,
    port: settings.corePort,
    async stop() {
      context.events.service('stopping');
      stopPruning();
      stopForgetting();
      stopSweeping();
      stopCheckouts();
      stopBackups();
      stopChecking();
      // Running turns get a quarter of the time to finish; the rest is for ending engines and sending telemetry.
      await context.pipeline.close(settings.stopTimeoutMs / 4);
      await worth.end();
      await nextTick(); // turns that have just ended report to their callers first
      context.feeds.closeAll();
      await Promise.race([link.close(), sleep(settings.stopTimeoutMs / 8)]);
      await closeApp(app, settings.stopTimeoutMs / 8);
      await context.close();
    },
  };
}
