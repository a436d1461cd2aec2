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

self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  const open = async () => {
    const [page] = await self.clients.matchAll({ type: 'window', includeUncontrolled: true });
    await (page === undefined ? self.clients.openWindow('/') : page.focus());
  };
  event.waitUntil(open());
});
