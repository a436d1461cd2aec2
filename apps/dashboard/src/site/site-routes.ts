import fastifyStatic from '@fastify/static';
import type { FastifyReply } from 'fastify';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { webAppHeaders } from '@svc/service-kit/http/web-app-headers.ts';
import { notFound } from '@svc/service-kit/service-error.ts';
import type { Pages } from './pages.ts';

const headers = webAppHeaders(['camera', 'microphone']);
const config = { sendsBytes: 'the files of the web app' };
/** Files that have no hash in their name: each is asked for again. */
const rootFiles = [
  'icon.svg',
  'manifest.webmanifest',
  'icon-192.png',
  'icon-512.png',
  'service-worker.js',
  'offline.html',
] as const;
/** Addresses of the app's own screens: each is the one page, which then shows the screen. What is behind us has addresses of its own. */
const screen = /^\/(?!\/|(?:core|manager|collector|assets)(?:\/|$)|chat\/)(?:[a-z-]+(?:\/.*)?)?$/;

/** The pages. They are public: what they show is asked for by who has signed in. */
export function mountSiteRoutes(app: App, { pages }: { pages: Pages }): void {
  void app.register(fastifyStatic, { root: pages.folder, serve: false, dotfiles: 'deny', cacheControl: false });

  app.get<{ Params: { '*': string } }>('/assets/*', { config, schema: { hide: true } }, ({ params }, reply) => {
    // A name of a file that Vite gave, and nothing else.
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

/** What stands there while the pages are built, or when they could not be. */
function notYet(reply: FastifyReply, pages: Pages): FastifyReply {
  const isComing = pages.state() === 'building';
  const words = isComing ? `${pages.step()} … This page loads again by itself.` : (pages.fault() ?? 'The pages are not built.');
  return reply
    .code(503)
    .headers({ ...headers, 'cache-control': 'no-store', ...(isComing ? { refresh: '2', 'retry-after': '2' } : {}) })
    .type('text/plain; charset=utf-8')
    .send(`${words}\n`);
}
