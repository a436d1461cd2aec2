import type { Gateway } from './gateway.ts';

export const canPush = (): boolean => 'PushManager' in globalThis && 'serviceWorker' in navigator && 'Notification' in globalThis;

/** Whether this browser is told of answers. Undefined where there is no service worker. */
export async function isPushed(): Promise<boolean> {
  const registration = await navigator.serviceWorker.getRegistration();
  return ((await registration?.pushManager.getSubscription()) ?? null) !== null;
}

/** Asks the person, then the browser's push service, and tells the gateway where. @throws Error for the person, when one of them refuses. */
export async function startPush(gateway: Gateway): Promise<void> {
  if ((await Notification.requestPermission()) !== 'granted')
    throw new Error('The browser does not allow notifications for this page.');
  const { key } = await gateway.json<{ key: string }>('GET', '/gw/push-key');
  const registration = await navigator.serviceWorker.ready;
  const subscription = await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  await gateway.json('PUT', '/gw/push', subscription.toJSON());
}

export async function stopPush(gateway: Gateway): Promise<void> {
  const registration = await navigator.serviceWorker.getRegistration();
  const subscription = await registration?.pushManager.getSubscription();
  await subscription?.unsubscribe();
  await gateway.json('DELETE', '/gw/push');
}
