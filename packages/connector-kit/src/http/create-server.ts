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
  /** The server adds `/version` and `/openapi.json`. */
  routes: readonly Route[];
  version: VersionInfo;
  /** The bind address and the operator's host names. */
  allowedHosts: readonly string[];
  /** Renders an error. Default: as the service's own routes do. */
  renderError?: (error: ServiceError, exchange: Pick<Exchange, 'requestId'>) => Reply;
  /** Schema of the body that `renderError` writes, for `/openapi.json`. */
  errorSchema?: Schema;
  log: StartContext['log'];
  /** How long a reader may leave a finished reply unread, ms. */
  unreadMs?: number;
  /** Maximum number of connections, 2,000 by default: some channels hold one for each reader. */
  maxConnections?: number;
  clock?: Clock;
};

export type ConnectorServer = {
  /** Rejects with the system's error, such as `EADDRINUSE`. Port 0 picks a free port. */
  listen(port: number, host: string): Promise<{ port: number; url: string }>;
  /** Stops accepting, lets running requests finish until the deadline, then cuts them off. */
  stop(deadlineMs: number): Promise<void>;
};

/** Pipelined requests are all handled before anything else, so the connection is closed after this many. */
const maxRequestsPerSocket = 500;
const limits = {
  maxRequestsPerSocket,
  headersTimeout: 15_000,
  keepAliveTimeout: 60_000,
} as const;

/** How long a stopping server waits for the rest of a request that has begun, ms: whatever is on its way has arrived by then. */
const silentMs = 1_000;

/**
 * The small HTTP server of connectors: guard, request ids, routes, and one place where errors become replies. A framework would need more
 * memory than a whole connector should.
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
  /** The unanswered request of each connection; null for none. */
  const answered = new Map<Socket, IncomingMessage | null>();

  const server = http.createServer(
    {
      headersTimeout: limits.headersTimeout,
      requestTimeout: 0, // `BodyWatch` limits each request instead
      keepAliveTimeout: limits.keepAliveTimeout,
      // Node would silently drop a second `Host`, which may be the one that a proxy in front of us went by.
      joinDuplicateHeaders: true,
      // The guard refuses requests without `Host`.
      requireHostHeader: false,
    },
    (req, res) => {
      // Shared listeners and no list of replies: otherwise both would be a large part of the cost of a short request.
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

  /** A reply that began before the stop has left its connection open, so idle connections are closed again. */
  function leave(this: ServerResponse): void {
    bodies.forget(this.req);
    if (answered.get(this.req.socket) === this.req) answered.set(this.req.socket, null);
    if (isStopping()) setImmediate(() => server.closeIdleConnections());
  }

  /** A reply that the system has not taken completely waits for its reader, but only for a limited time. */
  function expectReader(this: ServerResponse): void {
    if (this.socket === null || this.socket.writableLength === 0) return;
    this.setTimeout(unreadMs, () => this.destroy());
  }

  /** Ends connections whose request does not continue: they wait for no answer, so the stop need not wait for them. */
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

/** Answers a failed request with its error, unless a reply has begun. */
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

/** A reader that has gone is not a fault; its request continues to run. */
const ignore = () => undefined;

function requestIdOf(req: IncomingMessage): string {
  const given = req.headers['x-request-id'];
  return typeof given === 'string' && /^[\w.-]{1,128}$/.test(given) ? given : randomIds.next('req');
}

/** A wildcard address cannot be opened, so the URL names loopback instead. */
function hostInUrl(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
