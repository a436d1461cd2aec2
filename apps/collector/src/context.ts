import { existsSync } from 'node:fs';
import path from 'node:path';
import type { PartialEvent } from '@svc/contract/event.ts';
import type { VersionInfo } from '@svc/contract/service.ts';
import { systemClock, type Clock } from '@svc/service-kit/clock.ts';
import type { CollectorSettings } from '@svc/service-kit/config/process-settings.ts';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { makePrivateDir } from '@svc/service-kit/files.ts';
import { readEnv, type Env } from '@svc/service-kit/config/env-file.ts';
import { createBearerAuth, type BearerAuth } from '@svc/service-kit/http/bearer-auth.ts';
import type { RemoteUsers } from '@svc/service-kit/http/remote-users.ts';
import { randomIds, type Ids } from '@svc/service-kit/ids.ts';
import { createHub, type Hub } from '@svc/service-kit/hub.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { KnownSecrets } from '@svc/service-kit/redaction/known-secrets.ts';
import { openServiceSecrets } from '@svc/service-kit/redaction/service-secrets.ts';
import type { ServiceContext } from '@svc/service-kit/run-service.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { wellFormed } from '@svc/service-kit/well-formed.ts';
import { createCoreMask, type CoreMask } from '@svc/service-kit/redaction/core-mask.ts';
import type { SqliteDatabase } from '@svc/store/open-sqlite.ts';
import { openCollectorDb } from './db/open-collector-db.ts';
import { createFeedSource } from './feed/feed-source.ts';
import type { FeedItem } from './feed/feed-item.ts';
import { CommitQueue } from './ingest/commit-queue.ts';
import { createEventsWriter } from './ingest/write-events.ts';
import { createOtelExport, type OtelExport } from './otel/otel-export.ts';
import { maskIncoming } from './mask/mask-incoming.ts';
import { createGitRoots, type GitRoots } from './map/git-roots.ts';
import { createRetention, type Retention } from './retention/retention.ts';
import { createIndexer, type Indexer } from './search/indexer.ts';
import { createSearchThread, type SearchThread } from './search/search-thread.ts';
import { createCoreDirectory } from './session/core-directory.ts';
import { isForgotten } from './session/session-facts.ts';
import { createListPrices } from './session/list-prices.ts';
import { createSessionList, type SessionList } from './session/session-list.ts';
import { createPrincipalReader, type PrincipalReader } from './usage/fold-people.ts';
import { createProcessLister } from './system/our-processes.ts';
import { createSampler, type Sampler } from './system/sampler.ts';
import { createSessionHosts, type SessionHosts } from './terminal/session-hosts.ts';
import { createTranscripts, type Transcripts } from './transcript/create-transcripts.ts';
import type { TranscriptRoot } from '@svc/service-kit/transcript/transcript-roots.ts';
import { createTranscriptStore, type TranscriptStore } from './transcript/transcript-store.ts';

/** Everything the collector's routes need, in the order it is opened. */
export type CollectorContext = {
  settings: CollectorSettings;
  log: Log;
  version: VersionInfo;
  remoteUsers: RemoteUsers | undefined;
  clock: Clock;
  ids: Ids;
  knownSecrets: KnownSecrets;
  coreMask: CoreMask;
  /** Events of producers, with known secrets masked. `isOfCore`: the core has already masked the secrets that it knows. */
  maskIncoming(events: readonly unknown[], from?: { isOfCore: boolean }): Promise<readonly unknown[]>;
  db: SqliteDatabase;
  commitQueue: CommitQueue;
  hub: Hub<FeedItem>;
  searchThread: SearchThread;
  indexer: Indexer;
  sampler: Sampler;
  retention: Retention;
  otel: OtelExport;
  readPrincipals: PrincipalReader;
  gitRoots: GitRoots;
  hosts: SessionHosts;
  transcriptStore: TranscriptStore;
  transcripts: Transcripts;
  sessionList: SessionList;
  readAuth: BearerAuth;
  controlAuth: BearerAuth;
  /** Called after the last request was answered. */
  close(): Promise<void>;
};

/** `transcriptRoots`: where engines keep transcripts; none are followed without it. */
export type CollectorOptions = ServiceContext & {
  clock?: Clock;
  ids?: Ids;
  transcriptRoots?: readonly TranscriptRoot[];
  readPrincipals?: PrincipalReader;
  env?: Env;
  coreMask?: CoreMask;
};

export function createCollectorContext(options: CollectorOptions): CollectorContext {
  const { log, version, remoteUsers, clock = systemClock, ids = randomIds, transcriptRoots = [] } = options;
  const settings: CollectorSettings = options.settings;
  warnOfOpenRoutes(settings, log);
  makePrivateDir(settings.dataDir);
  const env = options.env ?? readEnv(settings.root);
  const knownSecrets = openServiceSecrets({ settings: options.settings, env, clock, warn: (message) => log.warn(message) });
  const paths = dataPaths(settings.dataDir);
  const urls = {
    core: `http://${settings.bindHost}:${settings.corePort}`,
    manager: `http://${settings.bindHost}:${settings.managerPort}`,
  };
  const coreMask = options.coreMask ?? createCoreMask(urls.core, settings.insightsToken, clock);
  const maskEvents: CollectorContext['maskIncoming'] = (events, { isOfCore } = { isOfCore: false }) =>
    maskIncoming(events, { mask: knownSecrets.mask, coreMask: isOfCore ? null : coreMask });

  const { db, checkpointer } = openCollectorDb(paths.collectorDb, { clock, log, durability: settings.durability });
  const hub = createHub<FeedItem>((error) => log.warn({ err: errorText(error) }, 'a reader of the live feed failed'));
  const feed = createFeedSource(hub, clock);
  const searchThread = createSearchThread({ eventFile: paths.collectorDb, indexFile: paths.searchDb }, clock);
  const indexer = createIndexer({ db, thread: searchThread, clock, log, hasIndex: existsSync(paths.searchDb) });
  const listProcesses = createProcessLister({
    stateFile: paths.supervisorState,
    managerUrl: urls.manager,
    managerToken: settings.managerToken,
  });
  const retention = createRetention({ db, settings, searchThread, clock, log });
  const sampler = createSampler({ db, hub, clock, dataDir: settings.dataDir, listProcesses, log });
  const write = createEventsWriter(db);
  const commitQueue = new CommitQueue({
    write(events) {
      const fresh = write(events);
      for (const event of fresh) if (event.session !== null && isForgotten(event)) core.forget(event.session);
      checkpointer.committed();
      indexer.stored(fresh.length);
      feed.stored(fresh);
      otel.stored(fresh);
    },
    pause: () => checkpointer.pause(),
    defaults: () => ({ now: clock.now(), nextId: () => ids.next('evt') }),
    log,
  });
  const sessions = openSessions({
    settings,
    db,
    clock,
    log,
    coreUrl: urls.core,
    tmuxSocket: path.join(paths.run, 'tmux.sock'),
    roots: transcriptRoots,
    submit: async (events) => commitQueue.submit(await maskEvents(events.map(wellFormed))),
    onChanged: (keys) => feed.changed(keys),
  });
  const { core, ...parts } = sessions;
  const { sessionList, hosts, transcripts } = parts;
  const otel = createOtelExport({
    mask: knownSecrets.mask,
    settings,
    version: version.version,
    commitQueue,
    hub,
    sampler,
    db,
    sessionList,
    clock,
    log,
  });
  return {
    settings,
    log,
    version,
    remoteUsers,
    clock,
    ids,
    knownSecrets,
    coreMask,
    maskIncoming: maskEvents,
    db,
    commitQueue,
    hub,
    searchThread,
    indexer,
    sampler,
    retention,
    otel,
    readPrincipals: options.readPrincipals ?? createPrincipalReader(urls.core),
    ...parts,
    readAuth: createBearerAuth(settings.insightsToken, 'SVC_INSIGHTS_TOKEN'),
    controlAuth: createBearerAuth(settings.insightsControlToken, 'SVC_INSIGHTS_CONTROL_TOKEN'),
    async close() {
      await transcripts.close();
      await hosts.close();
      await otel.close();
      feed.close();
      sampler.close();
      retention.close();
      indexer.close();
      await searchThread.close();
      await checkpointer.close();
      await knownSecrets.close();
      await db.close();
    },
  };
}

function warnOfOpenRoutes({ insightsToken, insightsControlToken }: CollectorSettings, log: Log): void {
  if (insightsToken === null) log.warn('SVC_INSIGHTS_TOKEN is not set: everyone on this machine can read and send events.');
  if (insightsControlToken === null)
    log.warn('SVC_INSIGHTS_CONTROL_TOKEN is not set: everyone on this machine can stop sessions and type into them.');
}

type SessionDeps = {
  settings: CollectorSettings;
  db: SqliteDatabase;
  clock: Clock;
  log: Log;
  coreUrl: string;
  tmuxSocket: string;
  roots: readonly TranscriptRoot[];
  submit: (events: PartialEvent[]) => Promise<unknown>;
  onChanged: (keys: string[]) => void;
};

/** What is known about sessions beyond their events: from the core, from transcripts, and from running programs. */
function openSessions({ settings, db, clock, log, coreUrl, tmuxSocket, roots, submit, onChanged }: SessionDeps) {
  const gitRoots = createGitRoots(clock);
  const core = createCoreDirectory(coreUrl, clock);
  const prices = createListPrices(coreUrl, clock);
  const transcriptStore = createTranscriptStore(db);
  const hosts = createSessionHosts({
    transcripts: transcriptStore,
    clock,
    processFolders: roots.flatMap(({ processes }) => processes ?? []),
    serviceSocket: tmuxSocket,
    onChanged,
  });
  const transcripts = createTranscripts({
    db,
    store: transcriptStore,
    settings,
    roots,
    clock,
    log,
    submit,
    coreKeyOf: core.keyOf,
    onChanged(keys) {
      onChanged(keys);
      for (const key of keys) hosts.wrote(key);
    },
  });
  const sessionList = createSessionList({ db, transcripts: transcriptStore, hosts, core, prices, gitRoots, clock });
  return { core, gitRoots, hosts, transcriptStore, transcripts, sessionList };
}
