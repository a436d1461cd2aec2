import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { createApp, type App } from '@svc/service-kit/http/create-app.ts';
import { createIntake } from '@svc/service-kit/intake/intake.ts';
import { createLog } from '@svc/service-kit/log.ts';
import { noMask } from '@svc/service-kit/redaction/outbound-mask.ts';
import { mountLiveRoutes } from '../live/live-routes.ts';
import type { Login, Logins } from '../login/logins.ts';
import { mountProxyRoutes } from './proxy-routes.ts';

const folder = temporaryFolder();
afterAll(folder.remove);

test.each(['/live', '/core/health'])('nothing is requested for a browser that leaves %s during the login check', async (url) => {
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<Login>();
  const find = vi.fn(() => Promise.resolve(null));
  const require = () => (asked.resolve(), answer.promise);
  const clock = createFakeClock();
  const headersFor = vi.fn(() => ({}));
  const log = createLog('dashboard', 'silent');
  const deps = {
    backends: { urls: { core: 'http://127.0.0.1:9', manager: '', collector: 'http://127.0.0.1:9' }, headersFor },
    logins: { find, require, requireProof: () => undefined } satisfies Logins,
    clock,
    log,
    knownSecrets: { mask: noMask },
    stopping: new AbortController(),
  };
  const { port, left } = await serve((app) => {
    mountProxyRoutes(app, deps);
    mountLiveRoutes(app, deps);
  });
  const socket = connect(port, '127.0.0.1');
  socket.write(`GET ${url} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
  await asked.promise;
  socket.destroy();
  await left;
  answer.resolve({ user: 'owner', sessionId: 's', provenAt: 0 });
  await answer.promise;
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(60_000);
  expect(find).not.toHaveBeenCalled();
  expect(headersFor).not.toHaveBeenCalled();
});

/** `left`: the connection of a request has ended. */
async function serve(routes: (app: App) => void) {
  const left = Promise.withResolvers<void>();
  const app = createApp({
    service: 'dashboard',
    version: { service: 'dashboard', version: '1.0.0', channel: 'stable', sha: 'unknown', started_at: 0, node: '26' },
    log: createLog('dashboard', 'silent'),
    allowedHosts: [],
    mask: noMask,
    intake: createIntake(folder.path),
    health: () => ({}),
    routes(own) {
      own.addHook('onRequest', async (_request, { raw }) => void once(raw, 'close').then(() => left.resolve()));
      routes(own);
    },
  });
  onTestFinished(() => app.close());
  const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }));
  return { port: Number(port), left: left.promise };
}
