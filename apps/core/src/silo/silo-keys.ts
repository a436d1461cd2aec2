import type { Clock } from '@svc/service-kit/clock.ts';
import { unavailable } from '@svc/service-kit/service-error.ts';
import type { VaultClient } from '@svc/service-kit/vault/create-vault-client.ts';
import type { SiloRow, SiloStore } from './silo-store.ts';

/** A key is requested again after this time, so that sealing the vault closes its silos even when nobody checks its state. */
const keptMs = 5000;

type Deps = {
  store: Pick<SiloStore, 'keepKey' | 'read'>;
  vault: Pick<VaultClient, 'generateSiloKey' | 'unwrapSiloKey'> | null;
  clock: Pick<Clock, 'elapsed' | 'after'>;
};

/** The data keys of silos. They are stored wrapped by the vault, and kept unwrapped in memory for a moment. */
export type SiloKeys = {
  /** Whether new files of a silo are sealed. */
  seals(silo: SiloRow): boolean;
  /** Null when there is no vault, so that files are stored unencrypted. @throws ServiceError when the vault cannot provide the key. */
  keyFor(silo: SiloRow): Promise<Buffer | null>;
  /** Removes the key from memory only: the wrapped key stays. */
  forget(id: string): void;
  forgetAll(): void;
};

export function createSiloKeys({ store, vault, clock }: Deps): SiloKeys {
  const kept = new Map<string, { key: Promise<Buffer>; until: number }>();

  async function unwrap({ id, wrapped_key }: SiloRow): Promise<Buffer> {
    if (vault === null) throw unavailable('This silo is sealed, and there is no vault to open it. Set SVC_VAULT_URL.');
    if (wrapped_key !== null) return vault.unwrapSiloKey(id, wrapped_key);
    const { key, wrapped } = await vault.generateSiloKey(id);
    if ((await store.keepKey(id, wrapped)) === 1) return key;
    // A concurrent call may have been first; its key stays.
    const first = (await store.read(id))?.wrapped_key ?? null;
    return first === null ? key : vault.unwrapSiloKey(id, first);
  }

  return {
    seals: ({ wrapped_key }: SiloRow): boolean => vault !== null || wrapped_key !== null,

    async keyFor(silo: SiloRow): Promise<Buffer | null> {
      if (!this.seals(silo)) return null;
      const known = kept.get(silo.id);
      if (known !== undefined && known.until > clock.elapsed()) return known.key;
      const key = unwrap(silo);
      kept.set(silo.id, { key, until: clock.elapsed() + keptMs });
      key.catch(() => kept.delete(silo.id));
      // Does not leave the key in memory until the next request.
      clock.after(keptMs, () => {
        if (kept.get(silo.id)?.key === key) kept.delete(silo.id);
      });
      return key;
    },

    forget: (id: string): void => void kept.delete(id),
    forgetAll: (): void => kept.clear(),
  };
}
