import { fileURLToPath } from 'node:url';
import path from 'node:path';
import { systemClock, type Clock } from '@svc/service-kit/clock.ts';
import { dataPaths, makePrivateDir } from '@svc/service-kit/config/data-dir.ts';
import { readEnv } from '@svc/service-kit/config/env-file.ts';
import { createBearerAuth } from '@svc/service-kit/http/bearer-auth.ts';
import { randomIds } from '@svc/service-kit/ids.ts';
import { createCoreMask } from '@svc/service-kit/redaction/core-mask.ts';
import { openServiceSecrets } from '@svc/service-kit/redaction/service-secrets.ts';
import type { ServiceContext } from '@svc/service-kit/run-service.ts';
import { createTelemetry, type Telemetry } from '@svc/service-kit/telemetry/create-telemetry.ts';
import { vaultOfSettings } from '@svc/service-kit/vault/create-vault-client.ts';
import { createConnectorTypes } from './connector-type/connector-types.ts';
import { findTypes, type SeenFolders } from './connector-type/find-types.ts';
import { linkPackages } from './connector-type/places.ts';
import { openManagerDb } from './db/open-manager-db.ts';
import { createInstanceService } from './instance/instance-service.ts';
import { createInstanceStore } from './instance/instance-store.ts';
import { createAnnouncementStore } from './outbound/announcement-store.ts';
import { createAnnouncer } from './outbound/announcer.ts';
import { createChannelProxy } from './outbound/channel-proxy.ts';
import { createDeliverer } from './outbound/deliverer.ts';
import { createSendService } from './outbound/send-service.ts';
import { createSentStore } from './outbound/sent-store.ts';
import { createSecretAnnouncer, createSecretResolver } from './supervisor/secrets.ts';
import { createInstanceSupervisor, type InstanceSupervisor } from './supervisor/instance-supervisor.ts';

export type ManagerOptions = ServiceContext & {
  clock: Clock;
  telemetry: Telemetry;
  /** Module that every connector process runs. */
  childEntry: string;
  supervisor: InstanceSupervisor;
};

export type ManagerContext = Awaited<ReturnType<typeof createManagerContext>>;

/** Everything the manager is made of, in the order of need. `close` after the instances have been stopped. */
export async function createManagerContext(options: ServiceContext & Partial<ManagerOptions>) {
  const { settings, log, version, clock = systemClock } = options;
  const paths = dataPaths(settings.dataDir);
  for (const dir of [paths.root, paths.run, paths.logs, paths.spool, paths.instances, paths.connectors]) makePrivateDir(dir);
  const env = readEnv(settings.root);
  const db = openManagerDb(paths.managerDb, settings.durability);
  const store = createInstanceStore(db);
  linkPackages(settings.root, paths.connectors);
  const seen: SeenFolders = new Map();
  const types = createConnectorTypes({
    find: () => findTypes(path.join(settings.root, 'connectors'), paths.connectors, seen),
    onProblem: (problem) => log.error({ problem }, 'a connector type cannot be used'),
  });
  await types.refresh();
  const knownSecrets = openServiceSecrets({ settings, env, clock, warn: (message) => log.warn(message) });
  const telemetry =
    options.telemetry ??
    createTelemetry({
      dir: paths.spool,
      producer: 'manager',
      collectorUrl: `http://${settings.bindHost}:${settings.collectorPort}`,
      token: settings.insightsToken,
      clock,
      ids: randomIds,
      log,
      mask: knownSecrets.mask,
    });
  const coreUrl = `http://${settings.bindHost}:${settings.corePort}`;
  const coreMask = createCoreMask(coreUrl, settings.insightsToken, clock);
  const announceSecret = createSecretAnnouncer({ settings, log });
  const supervisor =
    options.supervisor ??
    createInstanceSupervisor({
      settings,
      version,
      paths,
      clock,
      log,
      telemetry,
      env,
      types,
      secrets: createSecretResolver(
        { env, file: settings.secretsFile, command: settings.secretsCommand },
        vaultOfSettings(settings),
        async (name, value) => {
          knownSecrets.learn([value]);
          await announceSecret(name);
        },
      ),
      maskLine: knownSecrets.line,
      maskKnown: (text) => knownSecrets.redactor().known(text),
      childEntry: options.childEntry ?? fileURLToPath(import.meta.resolve('@svc/connector-kit/child-main.ts')),
    });
  const held = createAnnouncementStore(db);
  const sent = createSentStore(db, clock, randomIds);
  const forgetOutbound = async (id: string) => {
    await Promise.all([held.removeOf(id), sent.removeOf(id)]);
  };
  const instances = createInstanceService({ settings, paths, clock, log, store, types, supervisor, forgetOutbound });
  const deliver = createDeliverer({ supervisor, knownSecrets, clock, log });
  const announcer = createAnnouncer({ instances, types, store: held, supervisor, deliver, ids: randomIds, clock, log });
  return {
    settings,
    log,
    version,
    clock,
    paths,
    env,
    db,
    store,
    types,
    telemetry,
    supervisor,
    instances,
    knownSecrets,
    coreMask,
    sender: createSendService({ instances, types, sent, ids: randomIds, uploads: paths.uploads, deliver }),
    announcer,
    channels: createChannelProxy({ instances, supervisor }),
    bearerAuth: createBearerAuth(settings.managerToken, 'SVC_MANAGER_TOKEN'),
    async close() {
      announcer.close();
      await telemetry.close(settings.stopTimeoutMs / 10);
      await knownSecrets.close();
      await db.close();
    },
  };
}
