import type { Socket } from 'node:net';
import { isLoopbackUrl } from '@svc/service-kit/http/loopback.ts';
import { http, type ClientRequest, type IncomingMessage, type ServerResponse } from '@svc/service-kit/builtin.ts';

export type Upstream = {
  /** Forwards a request, which is destroyed together with `response`. Rejects when nothing answers. */
  send(request: IncomingMessage, route: string, body: Buffer, response: ServerResponse): Promise<IncomingMessage>;
  close(): void;
};

export type UpstreamOptions = {
  baseUrl: string;
  apiKey: string | null;
  /** May name a proxy. */
  env: Readonly<Record<string, string | undefined>>;
};

/** Timeout of the connection only: a model may think for minutes before its first word, ms. */
const connectTimeoutMs = 10_000;

/** The model service behind the relay, with persistent connections. */
export function openUpstream({ baseUrl, apiKey, env }: UpstreamOptions): Upstream {
  const base = new URL(baseUrl);
  const prefix = `${base.origin}${base.pathname.replace(/\/+$/, '')}`;
  const client = base.protocol === 'https:' ? process.getBuiltinModule('node:https') : http;
  const agent = new client.Agent({ keepAlive: true, ...(!isLoopbackUrl(baseUrl) && { proxyEnv: { ...env } }) });
  return {
    close: () => agent.destroy(),
    send: (request, route, body, response) =>
      new Promise((resolve, reject) => {
        const headers = upstreamHeaders(request, body, apiKey);
        const call = client.request(`${prefix}${route}`, { agent, method: 'POST', headers }, resolve);
        call.on('error', reject);
        call.on('socket', (socket) => limitConnecting(socket, call));
        response.on('close', () => call.destroy());
        call.end(body);
      }),
  };
}

function limitConnecting(socket: Socket, call: ClientRequest): void {
  if (!socket.connecting) return;
  const timer = setTimeout(() => call.destroy(new Error(`no connection within ${connectTimeoutMs / 1000} s`)), connectTimeoutMs);
  for (const event of ['connect', 'close'] as const) socket.once(event, () => clearTimeout(timer));
}

/** The relay must be able to read the reply, and the program's own key is valid only for the relay. */
function upstreamHeaders(request: IncomingMessage, body: Buffer, apiKey: string | null): Record<string, string | string[]> {
  const dropped = new Set(['host', 'connection', 'content-length', 'accept-encoding', 'transfer-encoding', 'x-goog-api-key']);
  const kept = Object.entries(request.headers).filter(
    (entry): entry is [string, string | string[]] => !dropped.has(entry[0]) && entry[1] !== undefined,
  );
  return {
    ...Object.fromEntries(kept),
    'content-length': String(body.length),
    ...(apiKey !== null && { 'x-goog-api-key': apiKey }),
  };
}
