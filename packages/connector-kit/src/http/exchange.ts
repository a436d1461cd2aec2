import type { IncomingMessage, ServerResponse } from '@svc/service-kit/builtin.ts';

/** One request and its reply, as route handlers get it. */
export type Exchange = {
  req: IncomingMessage;
  res: ServerResponse;
  /** Trace id, echoed as `X-Request-Id`. */
  requestId: string;
  /** Address of the peer. Forwarding headers are never believed. */
  remote: string;
  /** What a `:name` of the route's path matched, or `*` under this name, decoded. */
  params: Record<string, string>;
  /** The body as it comes, of a route with `streamsBody` alone. */
  body: AsyncIterable<Buffer>;
  /** True while the server takes no more requests. */
  isStopping: () => boolean;
  /** Aborts when the server stops: what would go on for ever ends by it. */
  stopping: AbortSignal;
};

export type Reply = { status: number; headers?: Record<string, string>; body: string };

/** Sends a whole JSON reply at once. Nothing happens when the reader is gone or a reply has begun. */
export function sendJson(exchange: Exchange, { status, headers, body }: Reply): void {
  const { res, requestId } = exchange;
  if (res.headersSent || res.destroyed) return;
  chooseConnection(exchange);
  res.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'x-request-id': requestId,
    ...headers,
  });
  res.end(body);
}

/** To be called before every head: while the server stops, a connection ends with its answer. */
export function chooseConnection({ res, isStopping }: Exchange): void {
  if (isStopping()) res.shouldKeepAlive = false;
}

export const noBodyStream: AsyncIterable<Buffer> = {
  [Symbol.asyncIterator]() {
    throw new Error('The route must declare `streamsBody`.');
  },
};
