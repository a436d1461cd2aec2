import { systemClock, type Clock } from '@svc/service-kit/clock.ts';
import { readEnv } from '@svc/service-kit/config/env-file.ts';
import type { DashboardSettings } from '@svc/service-kit/config/process-settings.ts';
import { noRemoteUsers } from '@svc/service-kit/http/remote-users.ts';
import { openServiceSecrets } from '@svc/service-kit/redaction/service-secrets.ts';
import type { ServiceContext } from '@svc/service-kit/run-service.ts';
import { webAppFolder } from '@svc/service-kit/packages/build-web-app.ts';
import { createTurns } from './chat/turns.ts';
import { createLogins } from './login/logins.ts';
import { createBackends } from './proxy/backends.ts';
import { createPages } from './site/pages.ts';

export type DashboardOptions = ServiceContext & {
  clock?: Clock;
  /** Where the built pages are. */
  folder?: string;
  port?: number;
};
export type DashboardContext = ReturnType<typeof createDashboardContext>;

/** Everything the dashboard's routes need. It has no database and no state of its own. */
export function createDashboardContext(options: DashboardOptions) {
  const { log, version, clock = systemClock, remoteUsers = noRemoteUsers } = options;
  const settings: DashboardSettings = options.settings;
  const env = readEnv(settings.root);
  const knownSecrets = openServiceSecrets({ settings: options.settings, env, clock, warn: (message) => log.warn(message) });
  const backends = createBackends(settings, remoteUsers);
  const stopping = new AbortController();
  const folder = options.folder ?? webAppFolder(settings.root, 'dashboard');
  return {
    settings,
    log,
    version,
    clock,
    knownSecrets,
    backends,
    stopping,
    logins: createLogins(backends.urls.core),
    turns: createTurns({ backends, log }),
    pages: createPages({ folder, isOwn: options.folder === undefined, settings, env, log, signal: stopping.signal }),
  };
}
