import type { Clock } from '@svc/service-kit/clock.ts';
import type { Settings } from '@svc/service-kit/config/settings.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { KnownSecrets } from '@svc/service-kit/redaction/known-secrets.ts';
import { readVersion } from '@svc/service-kit/version.ts';
import { createToolbelt, type Toolbelt } from './toolbelt.ts';

type Deps = {
  settings: Settings;
  env: Readonly<Record<string, string | undefined>>;
  knownSecrets: KnownSecrets;
  clock: Clock;
  log: Log;
};

/** The toolbelt with its real program. Nothing is started yet. */
export function openToolbelt({ settings, env, knownSecrets, clock, log }: Deps): Toolbelt {
  return createToolbelt({
    root: settings.root,
    env,
    coreUrl: `http://${settings.bindHost}:${settings.corePort}`,
    version: readVersion(settings.root, 'toolbelt', settings.updateChannel).version,
    clock,
    log,
    knownSecrets,
    operatorToken: settings.toolbeltToken,
  });
}
