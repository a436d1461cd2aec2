import { existsSync } from 'node:fs';
import { createStaticRoutes, sendJson, type Route } from '@svc/connector-kit';
import { webAppHeaders } from '@svc/service-kit/http/web-app-headers.ts';

const headers = webAppHeaders(['camera', 'microphone', 'geolocation']);

/** Serves the web app from its build folder. If it was not built, the page says so. */
export async function createAppRoutes(folder: string): Promise<Route[]> {
  if (existsSync(folder)) return createStaticRoutes(folder, { headers });
  return [
    {
      method: 'GET',
      path: '/',
      doc: { summary: 'The device app' },
      handle: (exchange) =>
        sendJson(exchange, {
          status: 503,
          headers: { ...headers, 'content-type': 'text/plain; charset=utf-8', 'retry-after': '10' },
          body: 'The app is not built yet. Build it: node scripts/build-web.ts, then ./svc connector restart NAME.\n',
        }),
    },
  ];
}
