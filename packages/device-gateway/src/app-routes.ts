import { existsSync } from 'node:fs';
import { createStaticRoutes, sendJson, type Route } from '@svc/connector-kit';

/**
 * The app asks its own gateway alone, runs no text as code and can be framed by nobody. `blob:` is for files that were chosen and for what
 * was recorded.
 */
const contentPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "connect-src 'self'",
  'media-src blob:',
  "worker-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types svc',
].join('; ');

const headers = {
  'content-security-policy': contentPolicy,
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(self), microphone=(self), geolocation=(self), payment=(), usb=()',
};

/** The files of the web app, from where it was built. Where it was not, the page says so. */
export async function createAppRoutes(folder: string): Promise<Route[]> {
  if (existsSync(folder)) return createStaticRoutes(folder, { headers });
  return [
    {
      method: 'GET',
      path: '/',
      doc: { summary: 'The web app' },
      handle: (exchange) =>
        sendJson(exchange, {
          status: 503,
          headers: { ...headers, 'content-type': 'text/plain; charset=utf-8', 'retry-after': '10' },
          body: 'The app is not built yet. Build it: node scripts/build-web.ts, then ./svc connector restart NAME.\n',
        }),
    },
  ];
}
