import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { createJsonReader, sendJson, ServiceError, type Exchange, type Reply, type Route } from '@svc/connector-kit';
import { onceOver } from '@svc/connector-kit/http/exchange.ts';
import { ByteBudget, type ByteLease } from '@svc/service-kit/intake/byte-budget.ts';
import type { CheckToken } from '../oauth/check-token.ts';
import { mcpPath } from '../oauth/oauth-paths.ts';
import type { createServer, ServerDeps } from './create-server.ts';
import { endWithToken } from './end-with-token.ts';
import { toAuthInfo } from './mcp-auth.ts';

/** Questions with their files. */
export const maxMessageBytes = 16 * 1024 * 1024;
const keepAliveMs = 5_000;
/** Of all questions together: the library keeps each, with its files, until it is answered. */
const maxHeldBytes = 3 * maxMessageBytes;

/** `createServer`: what a request is answered by. */
export type McpDeps = ServerDeps & { createServer: typeof createServer };

/** Streamable HTTP, for clients of both eras of the protocol; nothing is kept between requests. */
export function createMcpRoutes(deps: McpDeps, checkToken: CheckToken, origins: readonly string[]): Route[] {
  const limits = { maxRequestBodySize: maxMessageBytes };
  // "sse": with "auto" a call without a progress token would get its headers only with its answer.
  const options = { ...limits, legacy: 'stateless', responseMode: 'sse', keepAliveMs } as const;
  const handler = createMcpHandler(({ authInfo }) => deps.createServer(deps, authInfo), options);
  const answer = toNodeHandler({ fetch: async (...asked) => leaveConnection(await handler.fetch(...asked)) }, limits);
  const readJson = createJsonReader({ bodyBytes: maxMessageBytes, totalBytes: maxHeldBytes });
  const held = new ByteBudget(maxHeldBytes);
  const handle = async (exchange: Exchange): Promise<void> => {
    const { req, res, requestId } = exchange;
    const caller = await checkToken(exchange);
    onceOver(
      exchange,
      deps.access.begin(caller.clientId, () => res.destroy()),
    );
    const left = new AbortController();
    const kept: Promise<unknown>[] = [];
    let body: unknown;
    try {
      if (req.method === 'POST') body = await readJson(req, hold(held, exchange, kept));
    } catch (error) {
      return sendJson(exchange, toRpcError(error));
    }
    if (takesStream(req.headers.accept)) req.headers.accept = 'application/json, text/event-stream';
    deps.running.look(caller.clientId, body);
    // A question that was let in is answered, also when its token ends meanwhile.
    if (isListen(body)) endWithToken(exchange, caller, deps.clock);
    const whenSent: (() => void)[] = [];
    res.once('finish', () => whenSent.forEach((act) => act()));
    onceOver(exchange, () => left.abort());
    res.setHeader('x-request-id', requestId);
    res.setHeader('x-accel-buffering', 'no');
    const auth = toAuthInfo({
      caller,
      requestId,
      onSent: (act) => whenSent.push(act),
      left: left.signal,
      keeps: (work) => kept.push(work),
    });
    await answer(Object.assign(req, { auth }), res, body);
  };
  const open = { origins };
  // GET and DELETE belong to sessions, which there are none of: the SDK says so in its own words.
  return (['POST', 'GET', 'DELETE'] as const).map((method) => ({ method, path: mcpPath, open, handle }));
}

/** Holds the body of a request until it is answered and what keeps it is over. */
function hold(held: ByteBudget, exchange: Exchange, kept: readonly Promise<unknown>[]): ByteLease {
  const lease = held.lease();
  onceOver(exchange, () => void Promise.allSettled(kept).then(() => lease.release()));
  return lease;
}

/** A refused body as a JSON-RPC error; without a message there is no id. @throws errors that are not about the body */
function toRpcError(error: unknown): Reply {
  if (!(error instanceof ServiceError) || error.code === 'queue_full') throw error;
  const { status, message } = error;
  const body = { jsonrpc: '2.0', error: { code: status === 400 ? parseError : invalidRequest, message }, id: null };
  return { status, body: JSON.stringify(body) };
}
const parseError = -32_700;
const invalidRequest = -32_600;

/** The SDK requires both types by name. Our answers are streams, so a client that accepts anything, or only streams, can read them. */
const takesStream = (accept = '*/*'): boolean => /(?:^|[\s,])(?:\*\/\*|text\/(?:\*|event-stream))(?:[\s,;]|$)/i.test(accept);

/** A stream of news that stays open (`subscriptions/listen`, since 2026-07-28). */
const isListen = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && 'method' in body && body.method === 'subscriptions/listen';

/**
 * Takes out the SDK's "connection: keep-alive", which is the HTTP server's to say: said with the last answer that a connection may carry, the
 * client would send its next request there, and be refused.
 */
function leaveConnection(response: Response): Response {
  if (response.headers.get('connection') === 'keep-alive') response.headers.delete('connection');
  return response;
}
