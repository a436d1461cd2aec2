import type { FastifyInstance } from 'fastify';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { secondFactorHeaders } from '@svc/service-kit/http/second-factor.ts';
import { isProofFresh } from '@svc/contract/auth.ts';
import type { Logins } from '../login/logins.ts';
import { allowedRoutes } from './allowed-routes.ts';
import type { Backends } from './backends.ts';
import { forward } from './forward.ts';
import { watchLogin } from './watch-login.ts';

/** Checking a backup or fetching a repository takes long, and nothing is sent meanwhile. */
const slowRoutes: readonly string[] = ['/v2/backups/import', '/v2/backups/:id/restore', '/v2/checkouts'];
const slowAnswerMs = 60 * 60_000;

type Deps = { backends: Backends; logins: Logins; clock: Clock; stopping: AbortController };

/** `/core/…`, `/manager/…`, `/collector/…`: the routes of those processes, for the person who has signed in. */
export function mountProxyRoutes(app: App, { backends, logins, clock, stopping }: Deps): void {
  void app.register(async (inner) => {
    streamBodies(inner as unknown as FastifyInstance);
    for (const { backend, method, path, isDangerous } of allowedRoutes) {
      const prefix = `/${backend}`;
      inner.route({
        method,
        url: prefix + path,
        schema: { hide: true },
        exposeHeadRoute: false,
        config: { streamsBody: true, sendsBytes: 'what the process behind it has masked' },
        async handler(request, reply) {
          const login = await logins.require(request.headers);
          if (isDangerous) logins.requireProof(login, clock.now());
          if (reply.raw.destroyed) return; // the client has left meanwhile, and its `close` event is past
          const target = (request.raw.url ?? '').slice(prefix.length);
          const watch = watchLogin({ logins, clock, headers: request.headers, stopping: stopping.signal });
          reply.raw.once('close', watch.end);
          await forward(request, reply, {
            origin: backends.urls[backend],
            path: target,
            headers: {
              ...backends.headersFor(backend, login.user, path),
              ...(backend === 'core' && secondFactorHeaders(isProofFresh(login.provenAt, clock.now()))),
              'x-request-id': request.id,
            },
            signal: watch.signal,
            ...(method === 'POST' && slowRoutes.includes(path) && { answerMs: slowAnswerMs }),
          });
        },
      });
    }
  });
}

/** Bodies are not read here: they are streamed to the backend. */
function streamBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
}
