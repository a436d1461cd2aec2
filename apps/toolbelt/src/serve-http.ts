import type { AddressInfo } from 'node:net';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { http, type IncomingMessage, type Server, type ServerResponse } from '@svc/service-kit/builtin.ts';
import { bearerOf } from '@svc/service-kit/http/bearer-auth.ts';
import { createGuard } from '@svc/service-kit/http/guard.ts';
import { answerRefusedRequests } from '@svc/service-kit/http/refuse-bytes.ts';
import { randomIds } from '@svc/service-kit/ids.ts';
import { Secret } from '@svc/service-kit/secret.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { createDeviceServer, createServer, type ServerDeps } from './create-server.ts';

export type HttpForm = { port: number; close(): Promise<void> };

const ownPath = '/mcp';
const devicePath = '/mcp/device';
const maxBodyBytes = 1024 * 1024;

/**
 * Serves MCP on loopback, to clients of either era of the protocol. Nothing is kept between requests, so a process that
 * takes over the port goes on where another one was killed. Port 0, and one that is taken, become any free one.
 */
export async function serveHttp(deps: ServerDeps, port: number): Promise<HttpForm> {
  const limits = { maxRequestBodySize: maxBodyBytes };
  const own = toNodeHandler(
    createMcpHandler(({ requestInfo }) => createServer(deps, tokenOf(requestInfo)), limits),
    limits,
  );
  const ofDevice = toNodeHandler(
    // As a stream, whose signs of life keep the connection open while a person is asked.
    createMcpHandler(({ requestInfo }) => createDeviceServer(deps, tokenOf(requestInfo)), { ...limits, responseMode: 'sse' }),
    limits,
  );
  const guard = createGuard([]);
  const server = http.createServer({ requestTimeout: 30_000, requireHostHeader: false }, (request, response) => {
    const refusal = guard(request.headers) ?? checkRoute(request);
    if (refusal !== null) refuse(response, refusal);
    else void (request.url === devicePath ? ofDevice : own)(request, response);
  });
  answerRefusedRequests(server);
  server.maxConnections = 512;
  await listen(server, port).catch(() => listen(server, 0));
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function checkRoute({ url, headers }: IncomingMessage): ServiceError | null {
  if (url !== ownPath && url !== devicePath)
    return new ServiceError('not_found', `There are only ${ownPath} and ${devicePath} here.`);
  if (bearerOf(headers.authorization) !== null) return null;
  return new ServiceError('unauthorized', 'This needs "Authorization: Bearer <token>".', { status: 401 });
}

/** `checkRoute` has let only requests with a token through. What it is worth the core knows. */
const tokenOf = (request: Request | undefined): Secret =>
  new Secret(bearerOf(request?.headers.get('authorization') ?? undefined) ?? '');

function refuse(response: ServerResponse, error: ServiceError): void {
  const challenge: Record<string, string> = error.status === 401 ? { 'www-authenticate': 'Bearer' } : {};
  response.writeHead(error.status, { 'content-type': 'application/json', ...challenge });
  response.end(JSON.stringify(error.toBody(randomIds.next('req'))));
}

const listen = (server: Server, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve();
    });
  });
