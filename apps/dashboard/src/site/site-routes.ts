import fastifyStatic from '@fastify/static';
import type { FastifyReply } from 'fastify';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { webAppHeaders } from '@svc/service-kit/http/web-app-headers.ts';
import { notFound } from '@svc/service-kit/service-error.ts';
import type { Pages } from './pages.ts';

const headers = webAppHeaders(['camera', 'microphone']);
const config = { sendsBytes: 'the files of the web app' };
/** Files without a hash in their name, which browsers must revalidate. */
const rootFiles = [
  'icon.svg',
  'manifest.webmanifest',
  'icon-192.png',
  'icon-512.png',
  'service-worker.js',
  'offline.html',
] as const;
/** Addresses of the app's screens, all served as the same page. The proxied processes have their own addresses. */
const screen = /^\/(?!\/|(?:core|manager|collector|assets)(?:\/|$)|chat\/)(?:[a-z-]+(?:\/.*)?)?$/;

/** The pages. They are public: their data is requested after signing in. */
export function mountSiteRoutes(app: App, { pages }: { pages: Pages }): void {
  void app.register(fastifyStatic, { root: pages.folder, serve: false, dotfiles: 'deny', cacheControl: false });

  app.get<{ Params: { '*': string } }>('/assets/*', { config, schema: { hide: true } }, ({ params }, reply) => {
    // Only names of files as Vite writes them.
    if (!/^[\w.-]+-[\w-]{8,}\.\w+$/.test(params['*'])) throw notFound('file', params['*']);
    return send(reply, `assets/${params['*']}`, 'public, max-age=31536000, immutable');
  });
  for (const name of rootFiles)
    app.get(`/${name}`, { config, schema: { hide: true } }, (_request, reply) => send(reply, name, 'no-cache'));
  app.get('/*', { config, schema: { hide: true } }, ({ url }, reply) => {
    const [path = ''] = url.split('?', 1);
    if (!screen.test(path)) throw notFound('page', path);
    if (pages.state() !== 'ready') return notYet(reply, pages);
    return send(reply, path === '/login' ? 'login.html' : path === '/setup' ? 'setup.html' : 'index.html', 'no-store');
  });
}

function send(reply: FastifyReply, name: string, cache: string): FastifyReply {
  return reply.headers({ ...headers, 'cache-control': cache }).sendFile(name);
}

/** The answer while the pages are being built, or when the build has failed. */
function notYet(reply: FastifyReply, pages: Pages): FastifyReply {
  const isBuilding = pages.state() === 'building';
  const words = isBuilding
    ? `${pages.step()} … This page reloads automatically.`
    : (pages.fault() ?? 'The pages have not been built. Restart the service.');
  return reply
    .code(503)
    .headers({ ...headers, 'cache-control': 'no-store', ...(isBuilding ? { refresh: '2', 'retry-after': '2' } : {}) })
    .type('text/plain; charset=utf-8')
    .send(`${words}\n`);
}
