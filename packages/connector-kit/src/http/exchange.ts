import type { IncomingMessage, ServerResponse } from '@svc/service-kit/builtin.ts';

/** One request and its reply, as route handlers get it. */
export type Exchange = {
  req: IncomingMessage;
  res: ServerResponse;
  /** Trace id, echoed as `X-Request-Id`. */
  requestId: string;
  /** Address of the peer. Forwarding headers are never believed. */
  remote: string;
  /** What a `:name` of the route's path matched, decoded. */
  params: Record<string, string>;
};

export type Reply = { status: number; headers?: Record<string, string>; body: string };

/** Sends a whole JSON reply at once. Nothing happens when the reader is gone or a reply has begun. */
export function sendJson({ res, requestId }: Exchange, { status, headers, body }: Reply): void {
  if (res.headersSent || res.destroyed) return;
  res.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'x-request-id': requestId,
    ...headers,
  });
  res.end(body);
}
