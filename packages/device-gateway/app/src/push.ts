import { del, get, set } from 'idb-keyval';
import type { Gateway } from './gateway.ts';

export const canPush = (): boolean => 'PushManager' in globalThis && 'serviceWorker' in navigator && 'Notification' in globalThis;

/** Kept while the person wants to be told: a browser may lose its subscription by itself. */
const wanted = 'svc-push';

/** Whether this browser is told of answers. */
export const isPushed = async (): Promise<boolean> => (await current()) !== null;

/** Asks the person, then the browser's push service, and tells the gateway where. @throws Error for the person, when one of them refuses. */
export async function startPush(gateway: Gateway): Promise<void> {
  if ((await Notification.requestPermission()) !== 'granted')
    throw new Error('The browser does not allow notifications for this page.');
  await tell(gateway, await subscribe(gateway));
  await set(wanted, true);
}

/** Tells the gateway again where this browser is told of answers, when it is: one of them may have lost it. @throws when one of them is away */
export async function renewPush(gateway: Gateway): Promise<void> {
  if (!canPush() || Notification.permission !== 'granted') return;
  const known = await current();
  if (known !== null) await tell(gateway, known);
  else if ((await get<boolean>(wanted)) === true) await tell(gateway, await subscribe(gateway));
}

export async function stopPush(gateway: Gateway): Promise<void> {
  await endPush();
  await gateway.json('DELETE', '/gw/push');
}

/** In this browser: its push service brings nothing any more. */
export async function endPush(): Promise<void> {
  await del(wanted);
  if (canPush()) await (await current())?.unsubscribe();
}

async function current(): Promise<PushSubscription | null> {
  const registration = await navigator.serviceWorker.getRegistration();
  return (await registration?.pushManager.getSubscription()) ?? null;
}

async function subscribe(gateway: Gateway): Promise<PushSubscription> {
  const { key } = await gateway.json<{ key: string }>('GET', '/gw/push-key');
  const registration = await navigator.serviceWorker.ready;
  try {
    return await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    throw new Error(
      `This browser does not allow notifications; in a private window they never work. The browser's error: ${said}`,
      { cause: error },
    );
  }
}

const tell = (gateway: Gateway, subscription: PushSubscription): Promise<unknown> =>
  gateway.json('PUT', '/gw/push', subscription.toJSON());
