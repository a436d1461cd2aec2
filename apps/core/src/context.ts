import type { Clock } from '@svc/service-kit/clock.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import { dataPaths, makePrivateDir, type DataPaths } from '@svc/service-kit/config/data-dir.ts';
import type { Settings } from '@svc/service-kit/config/settings.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { createTelemetry } from '@svc/service-kit/telemetry/create-telemetry.ts';
import type { Telemetry } from '@svc/service-kit/telemetry/telemetry.ts';
import type { SqliteDatabase } from '@svc/store/open-sqlite.ts';
import { openCoreDb } from './db/open-core-db.ts';
import { createEngineRegistry, type EngineRegistry } from './engine/engine-registry.ts';
import { createEvents, type Events } from './events.ts';
import { createOpenFeeds, type OpenFeeds } from './feed/open-feeds.ts';
import { createModeration, defaultRules, type Moderation } from './moderation/moderation-rules.ts';
import { createKnownSecrets, type KnownSecrets } from './secret/known-secrets.ts';
import { createObservedStore, type ObservedStore } from './session/observed-store.ts';
import { createSessionStore, type SessionStore } from './session/session-store.ts';
import { createWorkspaces, type Workspaces } from './session/workspaces.ts';
import { seedTrust } from './trust/seed-trust.ts';
import { createTrustService, type TrustService } from './trust/trust-service.ts';
import { createTrustStore } from './trust/trust-store.ts';
import { createTurnQueue, type TurnQueue } from './turn/turn-queue.ts';

/** Everything the core is made of, built once. Parts take the few they need by `Pick`. */
export type CoreContext = {
  settings: Settings;
  paths: DataPaths;
  clock: Clock;
  ids: Ids;
  log: Log;
  db: SqliteDatabase;
  telemetry: Telemetry;
  knownSecrets: KnownSecrets;
  events: Events;
  trust: TrustService;
  sessions: SessionStore;
  observed: ObservedStore;
  workspaces: Workspaces;
  moderation: Moderation;
  engines: EngineRegistry;
  turnQueue: TurnQueue;
  feeds: OpenFeeds;
  close(): Promise<void>;
};

export type CoreDeps = {
  settings: Settings;
  clock: Clock;
  ids: Ids;
  log: Log;
  env: Readonly<Record<string, string | undefined>>;
  /** Other parts in place of the real ones, for tests. */
  overrides?: Partial<Pick<CoreContext, 'telemetry' | 'engines'>>;
};

/** Builds the context in the order of need; `close` walks back. */
export async function createCoreContext({ settings, clock, ids, log, env, overrides }: CoreDeps): Promise<CoreContext> {
  const paths = dataPaths(settings.dataDir);
  makePrivateDir(paths.root);
  const db = openCoreDb(paths.coreDb);
  const telemetry =
    overrides?.telemetry ??
    createTelemetry({
      dir: paths.spool,
      producer: 'core',
      collectorUrl: `http://${settings.bindHost}:${settings.collectorPort}`,
      token: settings.insightsToken,
      clock,
      ids,
      log,
    });
  const tokens = [settings.managerToken, settings.insightsToken, settings.insightsControlToken];
  const knownSecrets = createKnownSecrets(
    {
      values: tokens.flatMap((token) => (token === null ? [] : [token.reveal()])),
      env,
      secretsFile: settings.secretsFile,
      instancesDir: paths.instances,
    },
    clock,
    (message) => log.warn(message),
  );
  const events = createEvents(telemetry, knownSecrets);
  const trust = createTrustService(createTrustStore(db, clock, ids), clock);
  try {
    await db.transaction((tx) => seedTrust(createTrustStore(tx, clock, ids), paths.trustSeed));
  } catch (error) {
    log.error({ err: error }, 'trust could not be set up; everybody is denied');
    trust.closeGate(`trust could not be set up, so everybody is denied: ${errorText(error)}`);
  }
  const engines = overrides?.engines ?? createEngineRegistry({ settings, paths, env, clock, log });
  const turnQueue = createTurnQueue({ slots: settings.maxConcurrentTurns, maxWaiting: settings.maxQueuedTurns });
  return {
    settings,
    paths,
    clock,
    ids,
    log,
    db,
    telemetry,
    knownSecrets,
    events,
    trust,
    sessions: createSessionStore(db, clock),
    observed: createObservedStore(db, clock),
    workspaces: createWorkspaces(paths.root),
    moderation: createModeration(defaultRules, clock),
    engines,
    turnQueue,
    feeds: createOpenFeeds(),
    async close() {
      await engines.close();
      await telemetry.close(1000);
      await db.close();
    },
  };
}
