import { createSecretSources, type SecretPlaces } from '@svc/service-kit/secrets/secret-sources.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import type { VaultClient } from '@svc/service-kit/vault/create-vault-client.ts';

/** Turns the name of a secret into its value. Throws `unprocessable` with what to do when it cannot. */
export type SecretResolver = { resolve(name: string): Promise<string> };

/**
 * Asks the vault, where there is one, then the places of this machine; where the vault refuses, nobody else. The service's own settings and tokens (`SVC_…`) are nobody's secrets.
 */
export function createSecretResolver(places: SecretPlaces, vault: Pick<VaultClient, 'get'> | null = null): SecretResolver {
  const sources = createSecretSources(places, { hasVault: vault !== null });
  return {
    async resolve(name) {
      if (name.startsWith('SVC_'))
        throw unresolved(`"${name}" belongs to the service and is not given to connectors. Choose another name.`);
      const kept = await vault?.get(name, 'SACRED');
      if (kept?.is === 'value') return kept.value.reveal();
      if (kept?.is === 'denied') throw unresolved(`The vault does not give the secret "${name}": ${kept.why}`);
      const found = await sources.find(name);
      if ('value' in found) return found.value.reveal();
      throw unresolved(`${found.problem} Then restart this instance.`);
    },
  };
}

const unresolved = (message: string) => new ServiceError('unprocessable', message);
