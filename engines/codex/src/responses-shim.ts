import { randomBytes, timingSafeEqual } from 'node:crypto';
import { pipeline } from 'node:stream';
import { listenOnLoopback } from '@svc/engine-kit/listen-on-loopback.ts';
import { leaseForRequest } from '@svc/engine-kit/relay-bodies.ts';
import { BodyTooLarge, NoRoomForBody, readBody } from '@svc/service-kit/http/read-body.ts';
import type { ByteLease } from '@svc/service-kit/intake/byte-budget.ts';
import { http, type IncomingMessage, type ServerResponse } from '@svc/service-kit/builtin.ts';
import { restateRefusal } from './endpoint-refusal.ts';
import { createSseRewriter } from './sse-rewriter.ts';
import { flattenTools, restoreCalls, type ToolNames } from './shim-tools.ts';

export type ResponsesShim = {
  /** The base URL and the bearer token for codex. */
  url: string;
  token: string;
  close(): Promise<void>;
};

type Upstream = { baseUrl: URL; apiKey: string | null };

/** A turn with images in its history has some ten megabytes. */
const maxBodyBytes = 64 * 1024 * 1024;
const maxRefusalBytes = 256 * 1024;

/**
 * A relay on loopback between codex and a self-hosted Responses server. It converts tools to plain functions, and answers 502 when the
 * server is unreachable, because codex would wait for ever. Requests need the token.
 */
export async function startResponsesShim(options: { baseUrl: string; apiKey: string | null }): Promise<ResponsesShim> {
  const upstream: Upstream = { baseUrl: endpointUrl(options.baseUrl), apiKey: options.apiKey };
  const token = randomBytes(32).toString('base64url');
  const expected = Buffer.from(`Bearer ${token}`);
  const server = http.createServer((request, response) => {
    if (!isEqual(Buffer.from(request.headers.authorization ?? ''), expected)) return sendError(response, 401, 'wrong token');
    forward(request, response, upstream).catch((error: unknown) => sendError(response, statusOf(error), reasonOf(error)));
  });
  const { url, close } = await listenOnLoopback(server);
  return {
    url: `${url}/v1`,
    token,
    close,
  };
}

async function forward(request: IncomingMessage, response: ServerResponse, upstream: Upstream): Promise<void> {
  const route = (request.url ?? '').replace(/^\/v1/, '');
  const lease = leaseForRequest(response);
  const raw = await readBody(request, maxBodyBytes, lease);
  const isTurn = request.method === 'POST' && route.startsWith('/responses');
  const flat = isTurn ? flattenTools(JSON.parse(raw.toString('utf8')) as Record<string, unknown>) : null;
  const body = flat ? Buffer.from(JSON.stringify(flat.body)) : raw;
  const answer = await callUpstream(request, response, route, body, upstream);
  if (isTurn && (answer.statusCode ?? 502) >= 400) await sendRefusal(answer, response, upstream);
  else await sendAnswer(answer, response, flat?.names ?? new Map(), lease);
}

function callUpstream(
  request: IncomingMessage,
  response: ServerResponse,
  route: string,
  body: Buffer,
  { baseUrl, apiKey }: Upstream,
): Promise<IncomingMessage> {
  const client = baseUrl.protocol === 'https:' ? process.getBuiltinModule('node:https') : http;
  return new Promise((resolve, reject) => {
    const call = client.request(
      `${baseUrl.href}${route}`,
      { method: request.method, headers: upstreamHeaders(request, body, apiKey) },
      resolve,
    );
    call.on('error', reject);
    response.on('close', () => call.destroy());
    call.end(body);
  });
}

/** Content negotiation and the caller's identity are not passed on: the reply must be readable, and the token is only for us. */
function upstreamHeaders(request: IncomingMessage, body: Buffer, apiKey: string | null): Record<string, string | string[]> {
  const dropped = new Set(['host', 'connection', 'content-length', 'accept-encoding', 'authorization', 'transfer-encoding']);
  const kept = Object.entries(request.headers).filter(
    (entry): entry is [string, string | string[]] => !dropped.has(entry[0]) && entry[1] !== undefined,
  );
  return {
    ...Object.fromEntries(kept),
    ...(apiKey !== null && { authorization: `Bearer ${apiKey}` }),
    ...(body.length > 0 && { 'content-length': String(body.length) }),
  };
}

async function sendRefusal(answer: IncomingMessage, response: ServerResponse, { baseUrl }: Upstream): Promise<void> {
  // An incomplete or endless body is dropped, and only the status is passed on.
  const raw = await readBody(answer, maxRefusalBytes).catch(() => Buffer.alloc(0));
  const body = raw.toString('utf8');
  const refusal = { status: answer.statusCode ?? 502, headers: answer.headers, body };
  const { status, headers, body: text } = restateRefusal(refusal, baseUrl.href, Date.now());
  response.writeHead(status, { ...accountHeaders(answer), ...headers }).end(text);
}

/** Headers with the rest of the account's limits. */
const accountHeaders = (answer: IncomingMessage) =>
  Object.fromEntries(Object.entries(answer.headers).filter(([name]) => name.startsWith('x-codex-')));

async function sendAnswer(answer: IncomingMessage, response: ServerResponse, names: ToolNames, lease: ByteLease): Promise<void> {
  const type = answer.headers['content-type'] ?? 'application/json';
  response.writeHead(answer.statusCode ?? 502, { ...accountHeaders(answer), 'content-type': type });
  if (type.includes('event-stream')) {
    // A broken stream becomes a broken connection; codex reports it as a stream that ended early.
    pipeline(answer, createSseRewriter(names), response, () => undefined);
    return;
  }
  const raw = await readBody(answer, maxBodyBytes, lease);
  response.end(names.size > 0 ? restoreWhole(raw, names) : raw);
}

function restoreWhole(raw: Buffer, names: ToolNames): Buffer | string {
  try {
    const value: unknown = JSON.parse(raw.toString('utf8'));
    restoreCalls(value, names);
    return JSON.stringify(value);
  } catch {
    return raw; // an error page, which is passed on unchanged
  }
}

function sendError(response: ServerResponse, status: number, message: string): void {
  if (response.headersSent) return void response.destroy();
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ error: { message, type: 'upstream_error', code: null } }));
}

const statusOf = (error: unknown): number => (error instanceof NoRoomForBody ? 503 : error instanceof BodyTooLarge ? 413 : 502);

const reasonOf = (error: unknown): string => {
  if (error instanceof NoRoomForBody || error instanceof BodyTooLarge) return error.message;
  const { code, message } = error as NodeJS.ErrnoException;
  return `The model endpoint cannot be reached: ${code ?? message}`;
};

/** `http://host:port` means the usual path `/v1`. Without a trailing slash. */
export function endpointUrl(baseUrl: string): URL {
  const url = new URL(baseUrl);
  url.pathname = url.pathname === '/' ? '/v1' : url.pathname.replace(/\/+$/, '');
  return url;
}

const isEqual = (a: Buffer, b: Buffer): boolean => a.length === b.length && timingSafeEqual(a, b);
