import path from 'node:path';
import { systemClock, type Clock } from '@svc/service-kit/clock.ts';
import { dataPaths, makePrivateDir } from '@svc/service-kit/config/data-dir.ts';
import { readEnv, type Env } from '@svc/service-kit/config/env-file.ts';
import { createBearerAuth } from '@svc/service-kit/http/bearer-auth.ts';
import { randomIds, type Ids } from '@svc/service-kit/ids.ts';
import { createHub } from '@svc/service-kit/hub.ts';
import { openServiceSecrets } from '@svc/service-kit/redaction/service-secrets.ts';
import type { ServiceContext } from '@svc/service-kit/run-service.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { wellFormed } from '@svc/service-kit/well-formed.ts';
import { createCoreMask, type CoreMask } from '@svc/service-kit/redaction/core-mask.ts';
import { openCollectorDb } from './db/open-collector-db.ts';
import { createFeedSource } from './feed/feed-source.ts';
import type { FeedItem } from './feed/feed-item.ts';
import { CommitQueue } from './ingest/commit-queue.ts';
import { createEventsWriter } from './ingest/write-events.ts';
import { createOtelExport } from './otel/otel-export.ts';
import { maskIncoming } from './mask/mask-incoming.ts';
import { createGitRoots } from './map/git-roots.ts';
import { createRetention } from './retention/retention.ts';
import { createIndexer } from './search/indexer.ts';
import { createSearchThread } from './search/search-thread.ts';
import { createCoreDirectory } from './session/core-directory.ts';
import { createSessionList } from './session/session-list.ts';
import { createPrincipalReader, type PrincipalReader } from './usage/fold-people.ts';
import { createProcessLister } from './system/our-processes.ts';
import { createSampler } from './system/sampler.ts';
import { createSessionHosts } from './terminal/session-hosts.ts';
import { createTranscripts } from './transcript/create-transcripts.ts';
import type { TranscriptRoot } from './transcript/transcript-roots.ts';
import { createTranscriptStore } from './transcript/transcript-store.ts';

export type CollectorContext = ReturnType<typeof createCollectorContext>;

/** `transcriptRoots`: where engines keep transcripts; none are followed without it. */
export type CollectorOptions = ServiceContext & {
  clock?: Clock;
  ids?: Ids;
  transcriptRoots?: readonly TranscriptRoot[];
  readPrincipals?: PrincipalReader;
  env?: Env;
  coreMask?: CoreMask;
};

/** Everything the collector's routes need, in the order it is opened; `close` after the last request was answered. */
export function createCollectorContext(options: CollectorOptions) {
  const { settings, log, version, clock = systemClock, ids = randomIds, transcriptRoots = [] } = options;
  if (settings.insightsToken === null)
    log.warn('SVC_INSIGHTS_TOKEN is not set: everyone on this machine can read and send events.');
  if (settings.insightsControlToken === null)
    log.warn('SVC_INSIGHTS_CONTROL_TOKEN is not set: everyone on this machine can stop sessions and type into them.');
  makePrivateDir(settings.dataDir);
  const env = options.env ?? readEnv(settings.root);
  const knownSecrets = openServiceSecrets({ settings, env, clock, warn: (message) => log.warn(message) });
  const paths = dataPaths(settings.dataDir);
  const eventFile = paths.collectorDb;
  const { db, checkpointer } = openCollectorDb(eventFile, { clock, log, durability: settings.durability });
  const write = createEventsWriter(db);
  const hub = createHub<FeedItem>((error) => log.warn({ err: errorText(error) }, 'a reader of the live feed failed'));
  const feed = createFeedSource(hub, clock);
  const searchThread = createSearchThread({ eventFile, indexFile: paths.searchDb }, clock);
  const indexer = createIndexer({ db, thread: searchThread, clock, log });
  const { managerToken } = settings;
  const managerUrl = `http://${settings.bindHost}:${settings.managerPort}`;
  const listProcesses = createProcessLister({ stateFile: paths.supervisorState, managerUrl, managerToken });
  const retention = createRetention({ db, settings, searchThread, clock, log });
  const sampler = createSampler({ db, hub, clock, dataDir: settings.dataDir, listProcesses, log });
  const commitQueue = new CommitQueue({
    write(events) {
      const fresh = write(events);
      checkpointer.committed();
      indexer.stored(fresh.length);
      feed.stored(fresh);
      otel.stored(fresh);
    },
    pause: () => checkpointer.pause(),
    defaults: () => ({ now: clock.now(), nextId: () => ids.next('evt') }),
    log,
  });
  const coreUrl = `http://${settings.bindHost}:${settings.corePort}`;
  const coreMask = options.coreMask ?? createCoreMask(coreUrl, settings.insightsToken, clock);
  const maskEvents = (events: readonly unknown[], { isOfCore } = { isOfCore: false }) =>
    maskIncoming(events, { mask: knownSecrets.mask, coreMask: isOfCore ? null : coreMask });
  const gitRoots = createGitRoots(clock);
  const core = createCoreDirectory(coreUrl, clock);
  const transcriptStore = createTranscriptStore(db);
  const hosts = createSessionHosts({
    transcripts: transcriptStore,
    clock,
    processFolders: transcriptRoots.flatMap(({ processes }) => processes ?? []),
    serviceSocket: path.join(paths.run, 'tmux.sock'),
    onChanged: (keys) => feed.changed(keys),
  });
  const transcripts = createTranscripts({
    db,
    store: transcriptStore,
    settings,
    roots: transcriptRoots,
    clock,
    log,
    submit: async (events) => commitQueue.submit(await maskEvents(events.map(wellFormed))),
    coreKeyOf: core.keyOf,
    onChanged(keys) {
      feed.changed(keys);
      for (const key of keys) hosts.wrote(key);
    },
  });
  const sessionList = createSessionList({ db, transcripts: transcriptStore, hosts, core, gitRoots, clock });
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
    knownSecrets,
    coreMask,
    maskIncoming: maskEvents,
    clock,
    ids,
    db,
    commitQueue,
    hub,
    searchThread,
    indexer,
    sampler,
    retention,
    otel,
    readPrincipals: options.readPrincipals ?? createPrincipalReader(coreUrl),
    gitRoots,
    hosts,
    transcriptStore,
    transcripts,
    sessionList,
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
      await knownSecrets.close();
      await checkpointer.close();
      await db.close();
    },
  };
}
