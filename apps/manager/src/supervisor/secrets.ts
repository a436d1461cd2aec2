import { setTimeout as sleep } from 'node:timers/promises';
import { createSecretSources, type SecretPlaces } from '@svc/service-kit/secrets/secret-sources.ts';
import { ServiceError, errorText } from '@svc/service-kit/service-error.ts';
import { BehindVault } from '@svc/service-kit/vault/behind-vault.ts';
import type { VaultClient } from '@svc/service-kit/vault/create-vault-client.ts';
import type { ManagerSettings } from '@svc/service-kit/config/process-settings.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import type { Log } from '@svc/service-kit/log.ts';

/** Resolves the name of a secret to its value. Throws `unprocessable` with what to do, or `BehindVault` if the vault may have it later. */
export type SecretResolver = { resolve(name: string): Promise<string> };

/** Called with a value before it is given out, so that it is masked from then on. Never rejects. */
export type OnResolved = (name: string, value: string) => Promise<void>;

/**
 * Asks the vault, if there is one, then the sources on this machine; if the vault refuses, nothing else is asked. The
 * service's own settings and tokens (`SVC_…`) are given to no connector.
 */
export function createSecretResolver(
  places: SecretPlaces,
  vault: Pick<VaultClient, 'get'> | null,
  onResolved: OnResolved,
): SecretResolver {
  const sources = createSecretSources(places, { hasVault: vault !== null });
  const find = async (name: string): Promise<string> => {
    const kept = await vault?.get(name, 'SACRED');
    if (kept?.is === 'value') return kept.value.reveal();
    if (kept?.is === 'denied') throw unresolved(`The vault refuses the secret "${name}": ${kept.why}`);
    const found = await sources.find(name);
    if ('value' in found) return found.value.reveal();
    if (kept?.is === 'sealed' || kept?.is === 'unreachable') throw new BehindVault(`its secret ${name}`, kept);
    throw unresolved(`${found.problem} Then restart this instance.`);
  };
  return {
    async resolve(name) {
      if (name.startsWith('SVC_'))
        throw unresolved(`"${name}" belongs to the service and is not given to connectors. Choose another name.`);
      const value = await find(name);
      await onResolved(name, value);
      return value;
    },
  };
}

const unresolved = (message: string) => new ServiceError('unprocessable', message);

type Deps = { settings: Pick<ManagerSettings, 'bindHost' | 'corePort'>; log: Pick<Log, 'info' | 'warn'> };

/** A connector waits 10 s for its secret. */
const timeoutMs = 4_000;
/** The core looks up a limited number of secrets at once. */
const busyStatus = 429;
const pauseMs = 100;

/**
 * Sends the core the name of a secret that a connector is about to get, so that no reply shows its value. Never rejects: a
 * core that is down sends no replies, and asks for the names when it is back.
 */
export function createSecretAnnouncer({ settings: { bindHost, corePort }, log }: Deps): (name: string) => Promise<void> {
  const url = `http://${bindHost}:${corePort}/v2/secrets/learn`;
  return async (name) => {
    const until = performance.now() + timeoutMs;
    const ask = async (): Promise<number> => {
      const { status } = await requestJson(url, { body: { name }, timeoutMs: Math.max(1, Math.ceil(until - performance.now())) });
      if (status !== busyStatus || performance.now() + pauseMs > until) return status;
      await sleep(pauseMs);
      return ask();
    };
    try {
      const status = await ask();
      if (status !== 200)
        log.warn({ secret: name, status }, 'the core does not know a secret that a connector gets, so it does not mask it');
    } catch (error) {
      log.info(
        { secret: name, why: errorText(error) },
        'the core is unreachable; it asks for the names of secrets when it is back',
      );
    }
  };
}
