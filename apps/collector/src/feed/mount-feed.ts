import type { Duplex } from 'node:stream';
import type { IncomingMessage } from '@svc/service-kit/builtin.ts';
import { createGuard } from '@svc/service-kit/http/guard.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { randomIds } from '@svc/service-kit/ids.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import type { CollectorContext } from '../context.ts';
import type { SocketFeed } from './socket-feed.ts';

type Deps = Pick<CollectorContext, 'hub' | 'settings' | 'clock' | 'log' | 'knownSecrets'>;

const feedPath = '/socket.io/';
const bodyTimeoutMs = 20_000;

/**
 * The live feed (spec: Feeds): Socket.IO on the collector's own port. The library is loaded with the first connection, and
 * gets no request that has not passed the checks of every other route.
 */
export function mountFeed(app: App, { hub, settings, clock, log, knownSecrets }: Deps): void {
  let feed: Promise<SocketFeed> | null = null;
  // A failed load is tried again with the next connection.
  const load = () =>
    (feed ??= import('./socket-feed.ts')
      .then(({ createSocketFeed }) =>
        createSocketFeed({ hub, token: settings.insightsToken, clock, log, mask: knownSecrets.mask }),
      )
      .catch((error: unknown) => {
        feed = null;
        throw error;
      }));
  const guard = createGuard([settings.bindHost, ...settings.allowedHosts]);

  for (const method of ['GET', 'POST'] as const) {
    app.route({
      method,
      url: feedPath,
      schema: { hide: true },
      // Taken over before the body is read, which is in the library's own format.
      onRequest: async (request, reply) => {
        const refusal = tokenInUrl(request.raw);
        if (refusal !== null) throw refusal;
        const { handleRequest } = await load();
        reply.hijack();
        limitTime(request.raw, clock);
        handleRequest(request.raw, reply.raw);
        return reply;
      },
      handler: () => undefined,
    });
  }

  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    const refusal = guard(request.headers) ?? (isFeed(request) ? tokenInUrl(request) : nothingHere);
    if (refusal !== null) {
      refuse(socket, refusal);
      return;
    }
    load().then(
      ({ handleUpgrade }) => handleUpgrade(request, socket, head),
      (error: unknown) => {
        log.error({ err: error }, 'the live feed could not be loaded');
        socket.destroy();
      },
    );
  };
  app.server.on('upgrade', onUpgrade);
  app.addHook('preClose', async () => {
    app.server.off('upgrade', onUpgrade);
    await feed?.then((open) => open.close());
  });
}

const nothingHere = new ServiceError('not_found', 'There is no live feed at this path.');
const isFeed = ({ url = '' }: IncomingMessage): boolean => url.split('?', 1)[0] === feedPath;

/** A URL ends up in logs and histories, so a token in it is refused. */
const tokenInUrl = ({ url = '' }: IncomingMessage): ServiceError | null =>
  new URLSearchParams(url.slice(url.indexOf('?') + 1)).has('token')
    ? new ServiceError('unauthorized', 'Send the token in the handshake: io(url, { auth: { token } }).')
    : null;

function refuse(socket: Duplex, refusal: ServiceError): void {
  const requestId = randomIds.next('req');
  const body = JSON.stringify(refusal.toBody(requestId));
  const fields = [
    `HTTP/1.1 ${refusal.status} Refused`,
    'connection: close',
    'content-type: application/json',
    `x-request-id: ${requestId}`,
    ...(refusal.status === 401 ? ['www-authenticate: Bearer'] : []),
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  socket.end(`${fields.join('\r\n')}\r\n\r\n${body}`);
}

/** Limits the time of a slow body. */
function limitTime(request: IncomingMessage, clock: CollectorContext['clock']): void {
  if (request.method !== 'POST') return;
  const cancel = clock.after(bodyTimeoutMs, () => request.destroy());
  request.once('end', cancel).once('close', cancel);
}
