import type { IncomingMessage, ServerResponse } from '@svc/service-kit/builtin.ts';

/** One request and its reply, as route handlers receive it. */
export type Exchange = {
  req: IncomingMessage;
  res: ServerResponse;
  /** Trace id, echoed as `X-Request-Id`. */
  requestId: string;
  /** Address of the peer. Forwarding headers are ignored. */
  remote: string;
  /** The decoded values of the route's `:name` segments, and of `*` under that name. */
  params: Record<string, string>;
  /** The body as a stream; only for a route with `streamsBody`. */
  body: AsyncIterable<Buffer>;
  /** True once the server accepts no more requests. */
  isStopping: () => boolean;
  /** Aborts when the server stops, to end whatever would otherwise run for ever. */
  stopping: AbortSignal;
};

export type Reply = { status: number; headers?: Record<string, string>; body: string };

/** Sends a whole JSON reply at once. Does nothing when the reader has gone or a reply has begun. */
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

/** Call it before each head: while the server stops, each connection is closed after its reply. */
export function chooseConnection({ res, isStopping }: Exchange): void {
  if (isStopping()) res.shouldKeepAlive = false;
}

/** Calls back once the reply is over; at once when its reader has already gone, so that nothing waits for an event that has passed. */
export function onceOver({ res }: Pick<Exchange, 'res'>, act: () => void): void {
  if (res.destroyed) act();
  else res.once('close', act);
}

export const noBodyStream: AsyncIterable<Buffer> = {
  [Symbol.asyncIterator]() {
    throw new Error('The route must declare `streamsBody`.');
  },
};
