import type { AddressInfo, Socket } from 'node:net';
import type { Schema } from '@svc/contract/schema.ts';
import type { VersionInfo } from '@svc/contract/service.ts';
import { http, type IncomingMessage, type Server, type ServerResponse } from '@svc/service-kit/builtin.ts';
import { answerRefusedRequests } from '@svc/service-kit/http/refuse-bytes.ts';
import { randomIds } from '@svc/service-kit/ids.ts';
import { errorText, ServiceError, unavailable } from '@svc/service-kit/service-error.ts';
import { systemClock, type Clock } from '@svc/service-kit/clock.ts';
import type { StartContext } from '../connector.ts';
import { streamBody } from './body-stream.ts';
import { createBodyWatch } from './body-watch.ts';
import { noBodyStream, sendJson, type Exchange, type Reply } from './exchange.ts';
import { createRouteTable, type Route } from './route-table.ts';
import { createSelfRoutes } from './self-routes.ts';
import { createSiteAccess } from './site-access.ts';

export type ConnectorServerOptions = {
  /** `/version` and `/openapi.json` are added. */
  routes: readonly Route[];
  version: VersionInfo;
  /** The bind address and the operator's own host names. */
  allowedHosts: readonly string[];
  /** How this surface writes an error; as the service's own routes do unless given. */
  renderError?: (error: ServiceError, exchange: Pick<Exchange, 'requestId'>) => Reply;
  /** Of the body that `renderError` writes, for `/openapi.json`. */
  errorSchema?: Schema;
  log: StartContext['log'];
  /** How long a reader may take nothing of a reply that is finished here, ms. */
  unreadMs?: number;
  /** Connections at once, 2,000 unless given: for a channel whose every reader holds one. */
  maxConnections?: number;
  clock?: Clock;
};

export type ConnectorServer = {
  /** Rejects with the system's error, `EADDRINUSE` included. Port 0 picks a free port. */
  listen(port: number, host: string): Promise<{ port: number; url: string }>;
  /** Stops accepting, lets running requests finish until the deadline, then cuts them off. */
  stop(deadlineMs: number): Promise<void>;
};

/** Requests that come together are all handled before anything else is; after so many the connection is closed. */
const maxRequestsPerSocket = 500;
const limits = {
  maxRequestsPerSocket,
  headersTimeout: 15_000,
  keepAliveTimeout: 60_000,
} as const;

/** How long a server that stops waits for more of a request that has begun, ms: what is on its way is there by then. */
const silentMs = 1_000;

/**
 * The small HTTP server of connectors: guard, request ids, routes, one place where errors become replies. Frameworks
 * cost more memory than a whole connector should.
 */
export function createConnectorServer(options: ConnectorServerOptions): ConnectorServer {
  const {
    routes,
    allowedHosts,
    log,
    renderError = renderBody,
    unreadMs = 30_000,
    maxConnections = 2_000,
    clock = systemClock,
  } = options;
  const find = createRouteTable([...routes, ...createSelfRoutes(options)]);
  const access = createSiteAccess(allowedHosts, find);
  const stop = new AbortController();
  /** The request that a connection has asked, and is not answered yet; null for none. */
  const answered = new Map<Socket, IncomingMessage | null>();

  const server = http.createServer(
    {
      headersTimeout: limits.headersTimeout,
      requestTimeout: 0, // `BodyWatch` has it, by request
      keepAliveTimeout: limits.keepAliveTimeout,
      // A second `Host` would be dropped in silence, and could be the one that a proxy before us went by.
      joinDuplicateHeaders: true,
      // A request without `Host` is refused by the guard.
      requireHostHeader: false,
    },
    (req, res) => {
      // Shared listeners and no list of replies: both would be a good part of what a short request costs.
      res.on('close', leave);
      res.on('prefinish', expectReader);
      res.on('error', ignore);
      bodies.expect(req);
      answered.set(req.socket, req);
      const remote = req.socket.remoteAddress ?? '';
      const exchange = {
        req,
        res,
        requestId: requestIdOf(req),
        remote,
        params: {},
        body: noBodyStream,
        isStopping,
        stopping: stop.signal,
      };
      serve(exchange).catch((error: unknown) => fail({ renderError, log }, exchange, error));
    },
  );
  const bodies = createBodyWatch(server, clock);
  answerRefusedRequests(server, (error, requestId) => renderError(error, { requestId }));
  server.maxConnections = maxConnections;
  server.maxRequestsPerSocket = limits.maxRequestsPerSocket;
  server.on('connection', (socket) => {
    answered.set(socket, null);
    socket.once('close', () => answered.delete(socket));
  });

  function isStopping(): boolean {
    return stop.signal.aborted;
  }

  /** A reply that had begun before the stop has left its connection open. */
  function leave(this: ServerResponse): void {
    bodies.forget(this.req);
    if (answered.get(this.req.socket) === this.req) answered.set(this.req.socket, null);
    if (isStopping()) setImmediate(() => server.closeIdleConnections());
  }

  /** A reply that is not all with the system yet has a reader to wait for, but not for ever. */
  function expectReader(this: ServerResponse): void {
    if (this.socket === null || this.socket.writableLength === 0) return;
    this.setTimeout(unreadMs, () => this.destroy());
  }

  /** Who has begun to ask and goes on with nothing waits for no answer, and is not waited for as those are who do. */
  function cutOffSilent(): () => void {
    const before = new Map([...answered.keys()].map((socket) => [socket, socket.bytesRead]));
    return clock.after(silentMs, () => {
      for (const [socket, req] of answered)
        if ((req === null || bodies.isAwaited(req)) && before.get(socket) === socket.bytesRead) socket.destroy();
    });
  }

  async function serve(exchange: Exchange): Promise<void> {
    const { req } = exchange;
    if (isStopping()) throw unavailable('This connector is stopping. Try again in a moment.');
    if (access.answers(exchange)) return;
    const { route, params } = find(req.method ?? '', req.url ?? '');
    exchange.params = params;
    if (route.streamsBody === undefined) return route.handle(exchange);
    bodies.release(req);
    exchange.body = streamBody(req, route.streamsBody, clock);
    try {
      await route.handle(exchange);
    } finally {
      bodies.discard(req);
    }
  }

  return {
    listen: (port, host) => listen(server, port, host, log),
    stop(deadlineMs) {
      stop.abort();
      const cancel = cutOffSilent();
      return close(server, deadlineMs).finally(() => {
        cancel();
        bodies.stop();
      });
    },
  };
}

const listen = (server: Server, port: number, host: string, log: StartContext['log']): Promise<{ port: number; url: string }> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, backlog: 1024 }, () => {
      server.off('error', reject);
      server.on('error', (error) => log('error', 'the HTTP server reported an error', { error: error.message }));
      const address = server.address() as AddressInfo;
      resolve({ port: address.port, url: `http://${hostInUrl(host)}:${address.port}` });
    });
  });

const close = (server: Server, deadlineMs: number): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), deadlineMs);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
  });

const renderBody: NonNullable<ConnectorServerOptions['renderError']> = (error, { requestId }) => ({
  status: error.status,
  body: JSON.stringify(error.toBody(requestId)),
});

/** Turns what a request failed with into its reply, unless one has begun. */
function fail(
  { renderError, log }: Required<Pick<ConnectorServerOptions, 'renderError' | 'log'>>,
  exchange: Exchange,
  error: unknown,
): void {
  const known = error instanceof ServiceError ? error : unknownFault(log, exchange, error);
  const { res } = exchange;
  if (!res.headersSent) sendJson(exchange, renderError(known, exchange));
  else if (!res.writableEnded) res.destroy();
}

function unknownFault(log: StartContext['log'], { requestId }: Exchange, error: unknown): ServiceError {
  const stack = error instanceof Error ? error.stack : undefined;
  log('error', 'a request failed', { request_id: requestId, error: errorText(error), stack });
  return new ServiceError('internal', `Internal error. The log has the details under request ${requestId}.`);
}

/** A reader that is gone is no fault; what runs for it goes on. */
const ignore = () => undefined;

function requestIdOf(req: IncomingMessage): string {
  const given = req.headers['x-request-id'];
  return typeof given === 'string' && /^[\w.-]{1,128}$/.test(given) ? given : randomIds.next('req');
}

/** A wildcard is no address one can open, so its URL names loopback. */
function hostInUrl(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
