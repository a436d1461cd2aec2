import type { CoreSettings } from '@svc/service-kit/config/process-settings.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { queueFull } from '@svc/service-kit/service-error.ts';
import type { CheckoutStore, StoredCheckout } from './checkout-store.ts';
import type { Mirrors } from './mirrors.ts';

type RoomDeps = {
  settings: Pick<CoreSettings, 'checkoutsMaxBytes' | 'maxCheckouts'>;
  store: CheckoutStore;
  mirrors: Pick<Mirrors, 'bytesOf'>;
  isBusy(conversationKey: string): boolean;
  log: Pick<Log, 'info'>;
};

export const usedMirrors = (store: CheckoutStore): ReadonlySet<string> => new Set(store.all().map(({ mirror }) => mirror));

const oldestIdle = ({ store, isBusy }: RoomDeps, isMeant: (one: StoredCheckout) => boolean): StoredCheckout | undefined =>
  store
    .all()
    .filter((one) => isMeant(one) && (one.conversation_key === null || !isBusy(one.conversation_key)))
    .sort((a, b) => a.used_at - b.used_at)[0];

/** Makes room for one more checkout by removing the least recently used one. An instance that has half of all gives up one of its own. */
export async function makeRoom(service: RoomDeps, instanceId: string | null): Promise<void> {
  const { store, settings } = service;
  const isOwn = (one: StoredCheckout) => one.instance_id === instanceId;
  const isGreedy = store.all().filter(isOwn).length >= Math.max(1, Math.floor(settings.maxCheckouts / 2));
  if (!isGreedy && store.all().length < settings.maxCheckouts) return;
  const oldest = oldestIdle(service, isGreedy ? isOwn : () => true);
  if (oldest === undefined) throw queueFull(`All ${store.all().length} checkouts are in use. Try again later.`, 30);
  service.log.info({ checkout: oldest.id }, 'an idle checkout was removed to make room for another');
  await store.remove(oldest.id);
}

/** Keeps all checkouts together within their disk limit by removing the least recently used ones. */
export async function evict(service: RoomDeps, kept: string): Promise<void> {
  const { store, mirrors, settings } = service;
  const mirrorBytes = new Map<string, number>();
  for (const { mirror } of store.all()) if (!mirrorBytes.has(mirror)) mirrorBytes.set(mirror, await mirrors.bytesOf(mirror));
  const total = () => {
    const used = usedMirrors(store);
    const trees = store.all().reduce((sum, { bytes }) => sum + bytes, 0);
    return [...mirrorBytes].reduce((sum, [mirror, bytes]) => sum + (used.has(mirror) ? bytes : 0), trees);
  };
  while (total() > settings.checkoutsMaxBytes) {
    const oldest = oldestIdle(service, ({ id }) => id !== kept);
    if (oldest === undefined) return;
    await store.remove(oldest.id);
  }
}
