import type { Clock } from '@svc/service-kit/clock.ts';
import { unavailable } from '@svc/service-kit/service-error.ts';
import type { VaultClient } from '@svc/service-kit/vault/create-vault-client.ts';
import type { SiloRow, SiloStore } from './silo-store.ts';

/** A key is asked for again after this time: a vault that is sealed closes its silos also when nobody looks at it. */
const keptMs = 5000;

type Deps = {
  store: Pick<SiloStore, 'keepKey' | 'read'>;
  vault: Pick<VaultClient, 'generateSiloKey' | 'unwrapSiloKey'> | null;
  clock: Pick<Clock, 'elapsed' | 'after'>;
};

/** The data keys of silos. They are kept wrapped by the vault, and for a moment in memory as they are. */
export type SiloKeys = {
  /** True when files of a silo are sealed from now on. */
  seals(silo: SiloRow): boolean;
  /** Null when there is no vault, so that files lie in the clear. @throws ServiceError when the vault cannot give it. */
  keyFor(silo: SiloRow): Promise<Buffer | null>;
  /** From memory alone: the wrapped keys stay. */
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
    // Another call was first; its key is the one that stays.
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
      // Not left in memory until the next one who asks.
      clock.after(keptMs, () => {
        if (kept.get(silo.id)?.key === key) kept.delete(silo.id);
      });
      return key;
    },

    forget: (id: string): void => void kept.delete(id),
    forgetAll: (): void => kept.clear(),
  };
}
