import type { FastifyInstance, FastifyRequest } from 'fastify';
import { tokenHeaders } from '@svc/service-kit/http/own-tokens.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import type { Backends } from '../proxy/backends.ts';
import { forward } from '../proxy/forward.ts';

/** The core checks these headers itself: the proofs, and the page and address of the request. */
const passedOn = ['cookie', 'x-session-token', 'x-setup-token', 'user-agent', 'origin', 'host'] as const;

/** `/core/v2/auth/*`: the login of the core, which checks its own proofs. The browser's `Origin` and `Host` are passed on together. */
export function mountLoginRoutes(app: App, { backends }: { backends: Backends }): void {
  void app.register(async (inner) => {
    const scope = inner as unknown as FastifyInstance;
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    for (const method of ['GET', 'POST', 'PATCH', 'DELETE'] as const) {
      inner.route({
        method,
        url: '/core/v2/auth/*',
        schema: { hide: true },
        exposeHeadRoute: false,
        config: { streamsBody: true, sendsBytes: 'what the core has masked' },
        handler: (request, reply) =>
          forward(request, reply, {
            origin: backends.urls.core,
            path: (request.raw.url ?? '').slice('/core'.length),
            headers: { ...passedHeaders(request), ...tokenHeaders(backends.urls.core), 'x-request-id': request.id },
            alsoShow: ['set-cookie'],
          }),
      });
    }
  });
}

const passedHeaders = ({ headers }: FastifyRequest): Record<string, string> =>
  Object.fromEntries(
    passedOn.flatMap((name) => {
      const value = headers[name];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );
