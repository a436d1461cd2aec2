// Keeps assets whose name has a hash, and the page for when there is no network. Never the app's HTML, never an answer of the API.
const version = '__VERSION__';
const assets = ['__ASSETS__'].flat();
const cacheName = `svc-${version}`;
const offlinePage = '/offline.html';

self.addEventListener('install', (event) => {
  event.waitUntil(caches.open(cacheName).then((cache) => cache.addAll([offlinePage, ...assets])));
});

self.addEventListener('activate', (event) => {
  const removeOld = async () => {
    const names = await caches.keys();
    await Promise.all(names.filter((name) => name.startsWith('svc-') && name !== cacheName).map((name) => caches.delete(name)));
    await self.clients.claim();
  };
  event.waitUntil(removeOld());
});

self.addEventListener('fetch', (event) => {
  const url = new URL(event.request.url);
  if (event.request.method !== 'GET' || url.origin !== self.location.origin) return;
  if (event.request.mode === 'navigate') {
    event.respondWith(fetch(event.request).catch(() => caches.match(offlinePage)));
  } else if (assets.includes(url.pathname)) {
    event.respondWith(caches.match(event.request).then((kept) => kept ?? fetch(event.request)));
  }
});

self.addEventListener('message', (event) => {
  if (event.data === 'take-over') void self.skipWaiting();
});
