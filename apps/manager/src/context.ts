import { fileURLToPath } from 'node:url';
import path from 'node:path';
import { systemClock, type Clock } from '@svc/service-kit/clock.ts';
import { dataPaths, type DataPaths } from '@svc/service-kit/config/data-dir.ts';
import { makePrivateDir } from '@svc/service-kit/files.ts';
import { openConnectorPasses } from '@svc/service-kit/connector-pass.ts';
import type { ManagerSettings } from '@svc/service-kit/config/process-settings.ts';
import { readEnv, type Env } from '@svc/service-kit/config/env-file.ts';
import { createBearerAuth, type BearerAuth } from '@svc/service-kit/http/bearer-auth.ts';
import { randomIds } from '@svc/service-kit/ids.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { createCoreMask, type CoreMask } from '@svc/service-kit/redaction/core-mask.ts';
import type { KnownSecrets } from '@svc/service-kit/redaction/known-secrets.ts';
import { openServiceSecrets } from '@svc/service-kit/redaction/service-secrets.ts';
import type { ServiceContext } from '@svc/service-kit/run-service.ts';
import { makeSocketFolder } from '@svc/service-kit/socket-folder.ts';
import { createTelemetry, type Telemetry } from '@svc/service-kit/telemetry/create-telemetry.ts';
import { vaultOfSettings } from '@svc/service-kit/vault/create-vault-client.ts';
import type { SqliteDatabase } from '@svc/store/open-sqlite.ts';
import { createConnectorPackages } from './connector-type/connector-packages.ts';
import { createWebAppBuilds } from './connector-type/web-app-builds.ts';
import { createConnectorTypes, type ConnectorTypes } from './connector-type/connector-types.ts';
import { findTypes, type SeenFolders } from './connector-type/find-types.ts';
import { linkPackages } from './connector-type/places.ts';
import { openManagerDb } from './db/open-manager-db.ts';
import { createInstanceService, type InstanceService } from './instance/instance-service.ts';
import { createInstanceRulesWriter } from './instance/instance-rules.ts';
import { createInstanceStore, type InstanceStore } from './instance/instance-store.ts';
import { createAnnouncementStore } from './outbound/announcement-store.ts';
import { createAnnouncer, type Announcer } from './outbound/announcer.ts';
import { createChannelProxy, type ChannelProxy } from './outbound/channel-proxy.ts';
import { createInstanceCaller, type InstanceCaller } from './outbound/instance-caller.ts';
import { createDeliverer } from './outbound/deliverer.ts';
import { createSendService, type SendService } from './outbound/send-service.ts';
import { createSentEvents } from './outbound/sent-events.ts';
import { createSentStore } from './outbound/sent-store.ts';
import { createCompileCache } from './supervisor/compile-cache.ts';
import { createExclusiveSecrets } from './supervisor/exclusive-secrets.ts';
import { createSecretAnnouncer, createSecretResolver } from './supervisor/secrets.ts';
import { createInstanceSupervisor, type InstanceSupervisor } from './supervisor/instance-supervisor.ts';

export type ManagerOptions = ServiceContext & {
  clock: Clock;
  telemetry: Telemetry;
  /** Module that every connector process runs. */
  childEntry: string;
  supervisor: InstanceSupervisor;
};

/** Everything the manager is made of. */
export type ManagerContext = Omit<ServiceContext, 'settings'> & {
  settings: ManagerSettings;
  clock: Clock;
  paths: DataPaths;
  env: Env;
  db: SqliteDatabase;
  store: InstanceStore;
  types: ConnectorTypes;
  telemetry: Telemetry;
  supervisor: InstanceSupervisor;
  instances: InstanceService;
  knownSecrets: KnownSecrets;
  coreMask: CoreMask;
  sender: SendService;
  announcer: Announcer;
  channels: ChannelProxy;
  caller: InstanceCaller;
  bearerAuth: BearerAuth;
  /** To be called when the instances have been stopped. */
  close(): Promise<void>;
};

type Base = Pick<ManagerContext, 'settings' | 'log' | 'version' | 'clock' | 'paths' | 'env' | 'knownSecrets'>;

/** Each part is created after those that it needs. */
export async function createManagerContext(options: ServiceContext & Partial<ManagerOptions>): Promise<ManagerContext> {
  const { log, version, clock = systemClock } = options;
  const settings: ManagerSettings = options.settings;
  const paths = dataPaths(settings.dataDir);
  for (const dir of [paths.root, paths.run, paths.logs, paths.spool, paths.instances, paths.connectors]) makePrivateDir(dir);
  // Connectors present their passes on that socket.
  makeSocketFolder(path.dirname(paths.coreSocket));
  const env = readEnv(settings.root);
  const db = openManagerDb(paths.managerDb, settings.durability);
  const store = createInstanceStore(db);
  const knownSecrets = openServiceSecrets({ settings: options.settings, env, clock, warn: (message) => log.warn(message) });
  const base: Base = { settings, log, version, clock, paths, env, knownSecrets };
  const types = await openTypes(base);
  const telemetry = options.telemetry ?? openTelemetry(base);
  const supervisor =
    options.supervisor ?? openSupervisor(base, { types, telemetry, childEntry: options.childEntry ?? kitEntry() });
  const held = createAnnouncementStore(db);
  const sent = createSentStore(db, clock, randomIds);
  const forgetOutbound = async (id: string) => {
    await Promise.all([held.removeOf(id), sent.removeOf(id)]);
  };
  const rules = createInstanceRulesWriter({ file: paths.instanceRules, coreUrl: coreUrlOf(settings), types, log });
  const instances = createInstanceService({ rules, settings, paths, clock, log, store, types, supervisor, forgetOutbound });
  const deliver = createDeliverer({
    supervisor,
    knownSecrets,
    ticketFor: openConnectorPasses(paths.connectorKey).ticketFor,
    clock,
    log,
  });
  const events = createSentEvents({ telemetry, mask: supervisor.mask });
  const announcer = createAnnouncer({ instances, types, store: held, supervisor, deliver, ids: randomIds, clock, log });
  return {
    ...base,
    db,
    store,
    types,
    telemetry,
    supervisor,
    instances,
    coreMask: createCoreMask(coreUrlOf(settings), settings.insightsToken, clock),
    sender: createSendService({ instances, types, sent, ids: randomIds, uploads: paths.uploads, deliver, events }),
    announcer,
    channels: createChannelProxy({ instances, supervisor }),
    caller: createInstanceCaller({ instances, types, supervisor, knownSecrets }),
    bearerAuth: createBearerAuth(settings.managerToken, 'SVC_MANAGER_TOKEN'),
    async close() {
      announcer.close();
      await telemetry.close(settings.stopTimeoutMs / 10);
      await knownSecrets.close();
      await db.close();
    },
  };
}

/** The types of this installation, after a first search. */
async function openTypes({ settings, paths, log }: Base): Promise<ConnectorTypes> {
  try {
    linkPackages(settings.root, paths.connectors);
  } catch (error) {
    // A file system without links. Everything else works on it.
    log.warn({ err: errorText(error) }, 'added connectors cannot import the connector kit');
  }
  const seen: SeenFolders = new Map();
  const types = createConnectorTypes({
    find: () => findTypes(path.join(settings.root, 'connectors'), paths.connectors, seen),
    onProblem: (problem) => log.error({ problem }, 'a connector type cannot be used'),
  });
  await types.refresh();
  return types;
}

const openTelemetry = ({ settings, paths, clock, log, knownSecrets }: Base): Telemetry =>
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

function openSupervisor(
  { knownSecrets, ...base }: Base,
  parts: Pick<ManagerOptions, 'telemetry' | 'childEntry'> & { types: ConnectorTypes },
): InstanceSupervisor {
  const { settings, env, log } = base;
  const announceSecret = createSecretAnnouncer({ settings, log });
  const places = { env, file: settings.secretsFile, command: settings.secretsCommand };
  const vault = vaultOfSettings(settings);
  const secrets = createSecretResolver(places, vault, async (name, value) => {
    knownSecrets.learn([value]);
    await announceSecret(name);
  });
  return createInstanceSupervisor({
    ...base,
    ...parts,
    secrets,
    watchVault: vault?.watch ?? null,
    exclusiveSecrets: createExclusiveSecrets(),
    compileCache: createCompileCache(base),
    packages: createConnectorPackages({ ...base, registry: settings.engineRegistry }),
    webApps: createWebAppBuilds({ ...base, registry: settings.engineRegistry }),
    passes: openConnectorPasses(base.paths.connectorKey),
    maskLine: knownSecrets.line,
    maskKnown: (text) => knownSecrets.redactor().known(text),
  });
}

const coreUrlOf = ({ bindHost, corePort }: ManagerSettings): string => `http://${bindHost}:${corePort}`;

/** Module that every connector process runs. */
export const kitEntry = (): string => fileURLToPath(import.meta.resolve('@svc/connector-kit/child-main.ts'));
