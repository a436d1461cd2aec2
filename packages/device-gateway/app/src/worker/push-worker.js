// The payload says no more than that there is something, unless the owner wants it to.
self.addEventListener('push', (event) => {
  let content = null;
  try {
    content = event.data?.json() ?? null;
  } catch {
    content = null; // what nobody understands is a notice without words
  }
  const body = typeof content?.text === 'string' ? content.text.slice(0, 300) : 'An answer is ready.';
  const show = async () => {
    const pages = await self.clients.matchAll({ type: 'window' });
    if (pages.some((page) => page.visibilityState === 'visible')) return;
    await self.registration.showNotification('Assistant', { body, tag: 'answer', icon: '/icon-192.png' });
  };
  event.waitUntil(show());
});

// The push service has given the browser another address, or none. What fails here is done when the app starts.
self.addEventListener('pushsubscriptionchange', (event) => {
  const renew = async () => {
    const token = (await pairedDevice())?.token;
    if (token === undefined) return;
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const { key } = await (await fetch('/gw/push-key', { headers })).json();
    const known = await self.registration.pushManager.getSubscription();
    const subscription =
      known ?? (await self.registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key }));
    await fetch('/gw/push', { method: 'PUT', headers, body: JSON.stringify(subscription) });
  };
  event.waitUntil(renew());
});

// As the app keeps it (`device.ts`). Where nothing is kept, no database is made: the app would find it without its store.
const pairedDevice = () =>
  new Promise((resolve, reject) => {
    const opening = indexedDB.open('keyval-store');
    opening.addEventListener('upgradeneeded', () => opening.transaction.abort());
    opening.addEventListener('error', () => resolve(undefined));
    opening.addEventListener('success', () => {
      const database = opening.result;
      const reading = database.transaction('keyval').objectStore('keyval').get('svc-device');
      reading.addEventListener('success', () => resolve(reading.result));
      reading.addEventListener('error', () => reject(reading.error));
      reading.transaction.addEventListener('complete', () => database.close());
    });
  });

self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  const open = async () => {
    const [page] = await self.clients.matchAll({ type: 'window', includeUncontrolled: true });
    await (page === undefined ? self.clients.openWindow('/') : page.focus());
  };
  event.waitUntil(open());
});
