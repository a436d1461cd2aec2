import path from 'node:path';
import type { Route } from '@svc/connector-kit';
import type { Gateway } from '../gateway.ts';
import { reply } from '../http/reply.ts';
import { createOfferedFile } from './offered-file.ts';

const androidPackage = 'application/vnd.android.package-archive';

/** `GET /gw/wake`, `/gw/app` and `/gw/download`: the wake word model and the app package that the operator offers (spec: mobile connector). */
export function createFileRoutes(gateway: Gateway): Route[] {
  const { authenticate, ctx } = gateway;
  const { wake_model, app_package, app_version } = ctx.config;
  const at = (file: string) => (file === '' ? '' : path.resolve(ctx.dataDir, file));
  const wake = createOfferedFile(at(wake_model), 'wake word model');
  const app = createOfferedFile(at(app_package), 'app package');

  return [
    {
      method: 'GET',
      path: '/gw/wake',
      doc: { summary: 'Where the wake word model is', needsKey: true },
      async handle(exchange) {
        authenticate(exchange);
        reply(exchange, { ok: true, url: '/gw/wake/file', ...(await wake.facts()) });
      },
    },
    {
      method: 'GET',
      path: '/gw/wake/file',
      doc: { summary: 'The wake word model', needsKey: true },
      async handle(exchange) {
        authenticate(exchange);
        await wake.send(exchange, 'application/octet-stream');
      },
    },
    {
      method: 'GET',
      path: '/gw/app',
      doc: { summary: 'Version of the app package', needsKey: true },
      async handle(exchange) {
        authenticate(exchange);
        const facts = await app.facts();
        reply(exchange, { ok: true, version: app_version || facts.sha256.slice(0, 12), url: '/gw/download', ...facts });
      },
    },
    {
      method: 'GET',
      path: '/gw/download',
      doc: { summary: 'The app package', needsKey: true },
      async handle(exchange) {
        authenticate(exchange);
        await app.send(exchange, app_package.endsWith('.apk') ? androidPackage : 'application/octet-stream');
      },
    },
  ];
}
