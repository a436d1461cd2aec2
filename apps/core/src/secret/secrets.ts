import type { Tier } from '@svc/contract/trust.ts';
import { createLane } from '@svc/service-kit/lane.ts';
import type { KnownSecrets } from '@svc/service-kit/redaction/known-secrets.ts';
import type { Secret } from '@svc/service-kit/secret.ts';
import { createSecretSources, type SecretOrigin, type SecretPlaces } from '@svc/service-kit/secrets/secret-sources.ts';
import { readSecretsFile, writeSecret } from '@svc/service-kit/secrets/secrets-file.ts';
import { BehindVault, type ClosedVault } from '@svc/service-kit/vault/behind-vault.ts';
import { conflict, ServiceError } from '@svc/service-kit/service-error.ts';

/** A place that keeps secrets and is asked before all others: the vault, where there is one. */
export type SecretVault = {
  /**
   * `tier`: of the person for whom the value is used. Null: it has none. Closed: it cannot say, and the other places are asked. A
   * problem: it refuses, and no other place is asked.
   */
  get(name: string, tier: Tier): Promise<Secret | { problem: string } | { closed: ClosedVault } | null>;
  put(name: string, value: Secret): Promise<void>;
  /** False when there was none of that name. */
  remove(name: string): Promise<boolean>;
};

/** Where a value is stored. Values are put into `vault` and `file` alone. */
export type SecretHome = 'vault' | SecretOrigin;

/** `needsTrust`: it was refused to a tier that is not the service's own. */
type Found = { value: Secret; from: SecretHome } | { problem: string; needsTrust?: boolean } | { behindVault: BehindVault };

/** The service itself. */
const ownTier: Tier = 'SACRED';

type Deps = SecretPlaces & { vault: SecretVault | null; knownSecrets: Pick<KnownSecrets, 'learn'> };

/**
 * Secrets by name. The vault is asked first, then the environment, the secrets file and the command. What is put goes into the
 * vault, without one into the secrets file. Every value that passes here is known to redaction from then on.
 */
export type Secrets = {
  /** The value for the service's own use, or null when no place has one. */
  get(name: string): Promise<Secret | null>;
  /** The same, told apart from one that may be in a vault that cannot say. */
  ask(name: string): Promise<Secret | BehindVault | null>;
  /**
   * The value, for the service's own use, or for a person of this tier. @throws ServiceError `unprocessable` that says
   * where it may be put; `forbidden` when it is refused to a tier below the service's own; `BehindVault`.
   */
  resolve(name: string, tier?: Tier): Promise<Secret>;
  /**
   * Keeps a value and says where. @throws ServiceError `conflict` when the environment has one of that name, which
   * would win; `unprocessable` when the secrets file cannot be used.
   */
  put(name: string, value: Secret): Promise<'vault' | 'file'>;
  /**
   * Forgets what lies in the vault and in the secrets file, or in one of them, and says where something did. The environment and the command
   * are left alone. @throws ServiceError, with nothing removed when the file cannot be used
   */
  remove(name: string, from?: 'vault' | 'file'): Promise<('vault' | 'file')[]>;
};

export function createSecrets({ vault, knownSecrets, ...places }: Deps): Secrets {
  const sources = createSecretSources(places, { hasVault: vault !== null });
  // One after the other: each change of the file begins with what the last one left.
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
