import { connect, type Socket } from 'node:net';
import { onTestFinished, vi } from 'vitest';
import type { Clock } from '@svc/service-kit/clock.ts';
import { createConnectorServer } from '../../src/http/create-server.ts';
import { sendJson } from '../../src/http/exchange.ts';
import { createJsonReader } from '../../src/http/read-json.ts';
import type { Route } from '../../src/http/route-table.ts';

const readJson = createJsonReader({ bodyBytes: 1024 * 1024, totalBytes: 4 * 1024 * 1024 });

export const health: Route = {
  method: 'GET',
  path: '/health',
  handle: (exchange) => sendJson(exchange, { status: 200, body: '{}' }),
};
export const echo: Route = {
  method: 'POST',
  path: '/echo',
  handle: async (exchange) => sendJson(exchange, { status: 200, body: JSON.stringify(await readJson(exchange.req)) }),
};
export const version = { service: 'test', version: '1.2.3', channel: 'stable', sha: 'abc', started_at: 1, node: '26.0.0' };

/** A connector's server on a free port, for one test. */
export async function openServer(routes: Route[] = [health, echo], log = vi.fn(), unreadMs?: number, clock?: Clock) {
  const server = createConnectorServer({
    routes,
    version,
    unreadMs,
    clock,
    allowedHosts: ['gateway.example'],
    renderError: (error) => ({ status: error.status, body: JSON.stringify({ code: error.code, message: error.message }) }),
    log,
  });
  onTestFinished(() => server.stop(0));
  return { server, log, ...(await server.listen(0, '127.0.0.1')) };
}

export const post = (
  url: string,
  body: string | Blob,
  headers: Record<string, string> = { 'content-type': 'application/json' },
) => fetch(`${url}/echo`, { method: 'POST', headers, body });

/** Writes bytes as they are and gives all that came back until the server closed, at most 5 s. */
export function raw(port: number, text: string): Promise<string> {
  return new Promise((resolve) => {
    const socket: Socket = connect(port, '127.0.0.1');
    let answer = '';
    socket.setTimeout(5_000, () => socket.destroy());
    socket.on('data', (chunk) => (answer += chunk.toString('latin1')));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(answer));
    socket.write(text, 'latin1');
  });
}
