import { del, get, set } from 'idb-keyval';
import type { Gateway } from './gateway.ts';

export const canPush = (): boolean => 'PushManager' in globalThis && 'serviceWorker' in navigator && 'Notification' in globalThis;

/** Stored while the user wants notifications: a browser may lose its subscription. */
const wanted = 'svc-push';

/** Whether this browser receives notifications. */
export const isPushed = async (): Promise<boolean> => (await current()) !== null;

/**
 * Asks the user for permission, subscribes at the browser's push service, and sends the subscription to the gateway. @throws
 * Error with a message for the user when one of them refuses.
 */
export async function startPush(gateway: Gateway): Promise<void> {
  if ((await Notification.requestPermission()) !== 'granted')
    throw new Error('The browser does not allow notifications for this page.');
  await tell(gateway, await subscribe(gateway));
  await set(wanted, true);
}

/**
 * Sends this browser's subscription to the gateway again, if there is one: either side may have lost it. @throws when one of
 * them is unreachable
 */
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

/** Ends notifications in this browser. */
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
