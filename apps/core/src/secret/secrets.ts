import type { Tier } from '@svc/contract/trust.ts';
import { createLane } from '@svc/service-kit/lane.ts';
import type { KnownSecrets } from '@svc/service-kit/redaction/known-secrets.ts';
import type { Secret } from '@svc/service-kit/secret.ts';
import { createSecretSources, type SecretOrigin, type SecretPlaces } from '@svc/service-kit/secrets/secret-sources.ts';
import { readSecretsFile, writeSecret } from '@svc/service-kit/secrets/secrets-file.ts';
import { BehindVault, type ClosedVault } from '@svc/service-kit/vault/behind-vault.ts';
import { conflict, ServiceError } from '@svc/service-kit/service-error.ts';

/** A source of secrets that is used before all others: the vault, if there is one. */
export type SecretVault = {
  /**
   * `tier`: of the person for whom the value is used. Null: it has no such secret. Closed: it is unavailable, and the other sources are
   * used. A problem: it refuses, and no other source is used.
   */
  get(name: string, tier: Tier): Promise<Secret | { problem: string } | { closed: ClosedVault } | null>;
  put(name: string, value: Secret): Promise<void>;
  /** False when there was no such secret. */
  remove(name: string): Promise<boolean>;
};

/** Where a value is stored. Values are written only to `vault` and `file`. */
export type SecretHome = 'vault' | SecretOrigin;

/** `needsTrust`: it was refused to a tier below the service's own. */
type Found = { value: Secret; from: SecretHome } | { problem: string; needsTrust?: boolean } | { behindVault: BehindVault };

/** The tier of the service itself. */
const ownTier: Tier = 'SACRED';

type Deps = SecretPlaces & { vault: SecretVault | null; knownSecrets: Pick<KnownSecrets, 'learn'> };

/**
 * Secrets by name. The vault is used first, then the environment, the secrets file and the command. New values are stored in the vault, or
 * without one in the secrets file. Every value that passes through here is masked from then on.
 */
export type Secrets = {
  /** The value for the service's own use, or null when no source has one. */
  get(name: string): Promise<Secret | null>;
  /** The same, except that a secret that a closed vault may contain is reported as such. */
  ask(name: string): Promise<Secret | BehindVault | null>;
  /**
   * The value, for the service's own use or for a person of this tier.
   * @throws ServiceError `unprocessable` that says where to store it; `forbidden` when it is refused to a tier below the service's own;
   * `BehindVault`.
   */
  resolve(name: string, tier?: Tier): Promise<Secret>;
  /**
   * Stores a value and returns where.
   * @throws ServiceError `conflict` when the environment has one of that name, which would take precedence; `unprocessable` when the
   * secrets file cannot be used.
   */
  put(name: string, value: Secret): Promise<'vault' | 'file'>;
  /**
   * Removes the value from the vault and the secrets file, or from one of them, and returns where one was removed. The environment and the
   * command are left alone.
   * @throws ServiceError, with nothing removed when the file cannot be used.
   */
  remove(name: string, from?: 'vault' | 'file'): Promise<('vault' | 'file')[]>;
};

export function createSecrets({ vault, knownSecrets, ...places }: Deps): Secrets {
  const sources = createSecretSources(places, { hasVault: vault !== null });
  // Serialized: each change of the file starts from the result of the one before.
  const inTurn = createLane(1);

  const look = async (name: string, tier: Tier): Promise<Found> => {
    const kept = (await vault?.get(name, tier)) ?? null;
    if (kept !== null && 'problem' in kept) return { ...kept, needsTrust: tier !== ownTier };
    const isKept = kept !== null && !('closed' in kept);
    const found = isKept ? { value: kept, from: 'vault' as const } : await sources.find(name);
    if ('value' in found) knownSecrets.learn([found.value.reveal()]);
    else if (kept !== null && 'closed' in kept) return { behindVault: new BehindVault(`The secret ${name}`, kept.closed) };
    return found;
  };
  const ask = async (name: string): Promise<Secret | BehindVault | null> => {
    const found = await look(name, ownTier);
    return 'value' in found ? found.value : 'behindVault' in found ? found.behindVault : null;
  };

  return {
    async get(name: string): Promise<Secret | null> {
      const found = await ask(name);
      return found instanceof BehindVault ? null : found;
    },

    ask,

    async resolve(name: string, tier: Tier = ownTier): Promise<Secret> {
      const found = await look(name, tier);
      if ('value' in found) return found.value;
      if ('behindVault' in found) throw found.behindVault;
      throw new ServiceError(found.needsTrust === true ? 'forbidden' : 'unprocessable', found.problem);
    },

    async put(name: string, value: Secret): Promise<'vault' | 'file'> {
      knownSecrets.learn([value.reveal()]);
      if (vault !== null) {
        await vault.put(name, value);
        return 'vault';
      }
      if ((places.env[name] ?? '') !== '') {
        throw conflict(`${name} is set in the environment, which wins. Remove it there first.`);
      }
      await inTurn(() => writeSecret(places.file, name, value.reveal()));
      return 'file';
    },

    async remove(name: string, from?: 'vault' | 'file'): Promise<('vault' | 'file')[]> {
      if (from !== 'vault') await readSecretsFile(places.file);
      const wasKept = from !== 'file' && (await vault?.remove(name)) === true;
      const wasInFile = from !== 'vault' && (await inTurn(() => writeSecret(places.file, name, null)));
      return [...(wasKept ? (['vault'] as const) : []), ...(wasInFile ? (['file'] as const) : [])];
    },
  };
}
