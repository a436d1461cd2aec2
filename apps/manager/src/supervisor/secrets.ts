import { createSecretSources, type SecretPlaces } from '@svc/service-kit/secrets/secret-sources.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import type { VaultClient } from '@svc/service-kit/vault/create-vault-client.ts';

/** Turns the name of a secret into its value. Throws `unprocessable` with what to do when it cannot. */
export type SecretResolver = { resolve(name: string): Promise<string> };

/** Hears of a value before it is given out, so that it is masked from then on. Never rejects. */
export type OnResolved = (name: string, value: string) => Promise<void>;

/**
 * Asks the vault, where there is one, then the places of this machine; where the vault refuses, nobody else. The service's own settings and tokens (`SVC_…`) are nobody's secrets.
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
    if (kept?.is === 'denied') throw unresolved(`The vault does not give the secret "${name}": ${kept.why}`);
    const found = await sources.find(name);
    if ('value' in found) return found.value.reveal();
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
