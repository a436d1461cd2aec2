import { WebSocket, WebSocketServer, type RawData } from 'ws';
import { http, type IncomingMessage, type ServerResponse } from '@svc/service-kit/builtin.ts';
import { answerWith, takesEffect } from '../chat-platform/platform-faults.ts';
import { faultsOf, readBody, toAnswer } from '../discord-server/create-calls.ts';
import { readOpenApi } from '../discord-server/description/openapi-description.ts';
import { tooManyRequests } from '../discord-server/rate-limits.ts';
import { listen } from '../listen.ts';
import { readRequest, type RawRequest } from '../telegram-server/read-call.ts';
import { createFaults, isTooMany, type Faults, type TelegramRequest } from '../telegram-server/telegram-faults.ts';
import { forwardRequest } from './forward-request.ts';

/** A proxy before a Discord server, which adds the faults of networks and busy platforms. Every request is checked against the API description. */
export type DiscordProxy = Faults & {
  url: string;
  /** Requests that violate the API description. */
  violations: string[];
  /** Cuts the connections of the gateway. */
  dropGateway(): void;
  cutConnections(): void;
  close(): Promise<void>;
};

/** `target` is its address, without a path. */
export async function startDiscordProxy(target: string): Promise<DiscordProxy> {
  const violations: string[] = [];
  const { failNext, choose } = createFaults();
  const gateway = new WebSocketServer({ noServer: true });
  /** The server's own address is replaced in its answers, so that clients keep using the proxy. */
  const throughHere = (text: string): string => text.replaceAll(new URL(target).host, new URL(url).host);

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const raw = await readRequest(request);
    const call = readCall(request.method ?? 'GET', raw, violations);
    const fault = choose(proxy, call);
    if (fault === 'cut before') return void response.destroy();
    if (isTooMany(fault)) {
      const { status, body, headers } = toAnswer(tooManyRequests(fault.retryAfterS, 'shared'));
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      return answerWith(response, status, Buffer.from(JSON.stringify(body)), 'application/json');
    }
    const nothing = { status: 200, body: Buffer.of(), type: '' };
    const { status, body, type } = takesEffect(fault) ? await forwardRequest(target, request, raw, response) : nothing;
    if (response.destroyed) return;
    if (body.length === 0 && fault === undefined) return void response.writeHead(status).end();
    const shown = type.startsWith('application/json') ? Buffer.from(throughHere(body.toString('utf8'))) : body;
    answerWith(response, status, shown, type, fault);
  };
  const server = http.createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => undefined); // a client may be gone before it is open
    gateway.handleUpgrade(request, socket, head, (client) => {
      join(client, new WebSocket(`${target.replace(/^http/, 'ws')}${request.url ?? ''}`), throughHere);
    });
  });
  const { url, close } = await listen(server);
  const dropGateway = (): void => {
    for (const client of gateway.clients) client.terminate();
  };
  const proxy: DiscordProxy = {
    url,
    violations,
    fault: () => undefined,
    failNext,
    dropGateway,
    cutConnections() {
      dropGateway();
      server.closeAllConnections();
    },
    close() {
      dropGateway();
      return close();
    },
  };
  return proxy;
}

/** Connects two sockets. When one ends, the other does. */
function join(client: WebSocket, server: WebSocket, change: (text: string) => string): void {
  const waiting: string[] = [];
  client.on('message', (data: RawData) => {
    const text = String(data);
    if (server.readyState === WebSocket.OPEN) server.send(text);
    else waiting.push(text);
  });
  server.on('open', () => {
    for (const text of waiting.splice(0)) server.send(text);
  });
  server.on('message', (data: RawData) => client.send(change(String(data))));
  server.on('close', (code) => (code === 1005 || code === 1006 ? client.terminate() : client.close(code)));
  client.on('close', () => server.terminate());
  for (const socket of [client, server]) socket.on('error', () => socket.terminate());
}

function readCall(method: string, { url, type, body }: RawRequest, violations: string[]): TelegramRequest {
  const { pathname, searchParams } = new URL(url, 'http://x');
  const [, route] = /^\/api\/v10(\/.*)$/.exec(pathname) ?? [];
  if (route === undefined) return { method: 'file', params: {} };
  const description = readOpenApi();
  const found = description.find(method, route);
  const { body: read } = readBody(body, type);
  if (found === undefined) violations.push(`no route ${method} ${route}`);
  else violations.push(...faultsOf(description, found.id, searchParams, read).map((fault) => `${found.id} ${fault}`));
  return { method: found?.id ?? route, params: (read ?? {}) as Record<string, unknown> };
}
