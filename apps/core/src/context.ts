import type { Clock } from '@svc/service-kit/clock.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import { dataPaths, makePrivateDir, type DataPaths } from '@svc/service-kit/config/data-dir.ts';
import type { Settings } from '@svc/service-kit/config/settings.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { createTelemetry } from '@svc/service-kit/telemetry/create-telemetry.ts';
import type { Telemetry } from '@svc/service-kit/telemetry/telemetry.ts';
import type { SqliteDatabase } from '@svc/store/open-sqlite.ts';
import { openAnnouncements, type Announcements } from './announcement/announcements.ts';
import { openCoreDb } from './db/open-core-db.ts';
import { createChannelSender, type SendToChannel } from './delivery/channel-sender.ts';
import { createDeliveryStore, type DeliveryStore } from './delivery/delivery-store.ts';
import { createHandovers, type Handovers } from './delivery/handovers.ts';
import { createOutbox, type Outbox } from './delivery/outbox.ts';
import { createEngineRegistry, type EngineRegistry } from './engine/engine-registry.ts';
import { createEvents, type Events } from './events.ts';
import { createEventRing, type EventRing } from './feed/event-ring.ts';
import { createOpenFeeds, type OpenFeeds } from './feed/open-feeds.ts';
import { createModeration, defaultRules, type Moderation } from './moderation/moderation-rules.ts';
import { openPricing, type Pricing } from './pricing/pricing.ts';
import { createKnownSecrets, type KnownSecrets } from './secret/known-secrets.ts';
import { createClaims, type Claims } from './session/claims.ts';
import { openObservedStore, type ObservedStore } from './session/observed-store.ts';
import { createSessionStore, type SessionStore } from './session/session-store.ts';
import { createWorkspaces, type Workspaces } from './session/workspaces.ts';
import { openSpend, type Spend } from './spend/spend.ts';
import { createPairing, type Pairing } from './trust/pairing.ts';
import { openPending, type Pending } from './trust/pending.ts';
import { seedTrust } from './trust/seed-trust.ts';
import { createTrustService, type TrustService } from './trust/trust-service.ts';
import { createTrustStore } from './trust/trust-store.ts';
import { createBursts, type Bursts } from './turn/bursts.ts';
import { createLiveTurns, type LiveTurns } from './turn/live-turns.ts';
import { createTurnJournal, type TurnJournal } from './turn/turn-journal.ts';
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
  pending: Pending;
  pairing: Pairing;
  pricing: Pricing;
  spend: Spend;
  sessions: SessionStore;
  observed: ObservedStore;
  announcements: Announcements;
  workspaces: Workspaces;
  moderation: Moderation;
  engines: EngineRegistry;
  turnQueue: TurnQueue;
  liveTurns: LiveTurns;
  bursts: Bursts;
  journal: TurnJournal;
  claims: Claims;
  deliveries: DeliveryStore;
  outbox: Outbox;
  handovers: Handovers;
  feeds: OpenFeeds;
  eventRing: EventRing;
  close(): Promise<void>;
};

export type CoreDeps = {
  settings: Settings;
  clock: Clock;
  ids: Ids;
  log: Log;
  env: Readonly<Record<string, string | undefined>>;
  /** Other parts in place of the real ones, for tests. */
  overrides?: Partial<Pick<CoreContext, 'telemetry' | 'engines'> & { sendToChannel: SendToChannel }>;
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
  const eventRing = createEventRing();
  telemetry.subscribe(eventRing.push);
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
  const pending = await openPending({ db, clock, ids, log });
  const pricing = await openPricing({ settings, clock, log });
  const spend = await openSpend({ db, settings, clock, events, log });
  const engines = overrides?.engines ?? createEngineRegistry({ settings, paths, env, clock, log });
  const turnQueue = createTurnQueue({ slots: settings.maxConcurrentTurns, maxWaiting: settings.maxQueuedTurns }, clock);
  const journal = createTurnJournal(db, clock);
  const deliveries = createDeliveryStore(db, clock, ids);
  const managerUrl = `http://${settings.bindHost}:${settings.managerPort}`;
  const outbox = createOutbox({
    store: deliveries,
    flush: () => db.flush(),
    send: overrides?.sendToChannel ?? createChannelSender(managerUrl, settings.managerToken),
    clock,
    log,
    redact: (text) => knownSecrets.redactor().text(text),
    onSettled: (delivery) => {
      events.delivery(delivery);
      if (delivery.state !== 'delivered') return;
      journal.settle({ seq: delivery.turn_seq, id: delivery.turn_id }, 'delivered').catch((error: unknown) => {
        log.error({ err: error, turn: delivery.turn_id }, 'a delivered reply could not be marked');
      });
    },
  });
  const context: CoreContext = {
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
    pending,
    pairing: createPairing({ db, pending, trust, events, clock, ids }),
    pricing,
    spend,
    sessions: createSessionStore(db, clock),
    observed: await openObservedStore(db, clock),
    announcements: await openAnnouncements(db, clock),
    workspaces: createWorkspaces(paths.root, clock),
    moderation: createModeration(defaultRules, clock),
    engines,
    turnQueue,
    liveTurns: createLiveTurns(db),
    bursts: createBursts(() => context),
    journal,
    claims: await createClaims(db),
    deliveries,
    outbox,
    handovers: createHandovers({ journal, outbox, clock, log }),
    feeds: createOpenFeeds(),
    eventRing,
    async close() {
      outbox.close();
      await engines.close();
      await telemetry.close(1000);
      await spend.close();
      await pending.close();
      await db.close();
    },
  };
  return context;
}
