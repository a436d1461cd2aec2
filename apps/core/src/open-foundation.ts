import type { Clock } from '@svc/service-kit/clock.ts';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { makePrivateDir } from '@svc/service-kit/files.ts';
import type { Settings } from '@svc/service-kit/config/settings.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { openServiceSecrets } from '@svc/service-kit/redaction/service-secrets.ts';
import { createTelemetry, type Telemetry } from '@svc/service-kit/telemetry/create-telemetry.ts';
import { openCoreDb } from './db/open-core-db.ts';
import { openLoginDb } from './db/open-login-db.ts';
import { createEvents } from './events.ts';
import { createEventFeed } from './feed/event-feed.ts';
import { createTrustAudit } from './trust/trust-audit.ts';

type Deps = {
  settings: Settings;
  clock: Clock;
  ids: Ids;
  log: Log;
  env: Readonly<Record<string, string | undefined>>;
  /** Replaces the real one in tests. */
  telemetry: Telemetry | undefined;
};

/** What every part of the core depends on: the data paths, the known secrets, and the events. */
export function openFoundation({ settings, clock, ids, log, env, telemetry: given }: Deps) {
  const paths = dataPaths(settings.dataDir);
  makePrivateDir(paths.root);
  const db = openCoreDb(paths.coreDb, { durability: settings.durability, log });
  const loginDb = openLoginDb(paths.loginDb, clock);
  const knownSecrets = openServiceSecrets({ settings, env, clock, warn: (message) => log.warn(message) });
  const telemetry =
    given ??
    createTelemetry({
      dir: paths.spool,
      producer: 'core',
      collectorUrl: `http://${settings.bindHost}:${settings.collectorPort}`,
      token: settings.insightsToken,
      clock,
      ids,
      log,
      mask: knownSecrets.mask,
    });
  const eventFeed = createEventFeed(knownSecrets.mask, clock);
  telemetry.subscribe(({ id, kind }, line) => eventFeed.publish({ id, kind, line }));
  const events = createEvents(telemetry, knownSecrets);
  return { paths, db, loginDb, knownSecrets, telemetry, eventFeed, events, trustAudit: createTrustAudit(knownSecrets, clock) };
}
