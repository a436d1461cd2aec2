import type { Clock } from '@svc/service-kit/clock.ts';
import type { DataPaths } from '@svc/service-kit/config/data-dir.ts';
import type { Settings } from '@svc/service-kit/config/settings.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { createKnownSecrets, type KnownSecrets } from '@svc/service-kit/redaction/known-secrets.ts';

type Places = {
  settings: Settings;
  paths: Pick<DataPaths, 'instances'>;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  log: Pick<Log, 'warn'>;
};

/** What redaction knows from the start: the service's own tokens, the environment, the secrets file and the keys of connectors. */
export function openKnownSecrets({ settings, paths, env, clock, log }: Places): KnownSecrets {
  const tokens = [
    settings.managerToken,
    settings.insightsToken,
    settings.insightsControlToken,
    settings.toolbeltToken,
    settings.vaultAgentKey,
    settings.vaultAdminKey,
  ];
  const values = tokens.flatMap((token) => (token === null ? [] : [token.reveal()]));
  const places = { values, env, secretsFile: settings.secretsFile, instancesDir: paths.instances };
  return createKnownSecrets(places, clock, (message) => log.warn(message));
}
