import type { Clock } from '../clock.ts';
import { dataPaths } from '../config/data-dir.ts';
import type { Env } from '../config/env-file.ts';
import type { Settings } from '../config/settings.ts';
import { Secret } from '../secret.ts';
import { createKnownSecrets, type KnownSecrets } from './known-secrets.ts';

type Places = { settings: Settings; env: Env; clock: Clock; warn: (message: string) => void };

/** The secrets that every process knows from its start: its tokens, the environment, the secrets file and the keys of connectors. */
export function openServiceSecrets({ settings, env, clock, warn }: Places): KnownSecrets {
  const values = Object.values(settings).flatMap((value: unknown) => (value instanceof Secret ? [value.reveal()] : []));
  const { secretsFile, dataDir, publicLinkHosts: linkHosts } = settings;
  return createKnownSecrets({ values, env, secretsFile, instancesDir: dataPaths(dataDir).instances, linkHosts }, clock, warn);
}
