import type { FastifyReply, FastifyRequest } from 'fastify';
import { pipeline } from 'node:stream/promises';
import { http, type IncomingMessage } from '@svc/service-kit/builtin.ts';
import { unavailable } from '@svc/service-kit/service-error.ts';

/** The request headers that a backend gets. All others, above all cookies and names, are dropped. */
const requestHeaders = [
  'accept',
  'content-type',
  'content-length',
  'last-event-id',
  'range',
  'if-range',
  'if-none-match',
  'x-backup-passphrase',
] as const;
/** The response headers that the browser gets. */
const answerHeaders = [
  'content-type',
  'content-length',
  'content-range',
  'content-disposition',
  'content-security-policy', // of uploaded files
  'accept-ranges',
  'etag',
  'retry-after',
  'x-accel-buffering',
  'x-request-id',
] as const;

/** An answer is data: opened as a page, it can run and load nothing, and has no origin. */
const dataOnly = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'cross-origin-resource-policy': 'same-origin',
} as const;

/** How long a backend may take to begin its answer, since the last bytes sent to it: a side call of an engine takes a while. */
const usualAnswerMs = 120_000;
const agent = new http.Agent({ keepAlive: true, maxSockets: 256 });

export type Forward = {
  /** Address of the backend. */
  origin: string;
  /** With its query, unchanged. */
  path: string;
  headers: Record<string, string>;
  /** Aborts the exchange in any state. */
  signal?: AbortSignal;
  /** How long the backend may take to begin its answer. */
  answerMs?: number;
  /** More response headers for the browser. */
  alsoShow?: readonly string[];
};

/**
 * Streams a request to a backend, and its answer back.
 * @throws ServiceError `unavailable` when no answer begins. If one breaks off later, the connection is closed.
 */
export async function forward(request: FastifyRequest, reply: FastifyReply, to: Forward): Promise<void> {
  const clientGone = new AbortController();
  reply.raw.once('close', () => clientGone.abort());
  const signal = to.signal === undefined ? clientGone.signal : AbortSignal.any([clientGone.signal, to.signal]);
  const answer = await ask(request, to, signal);
  reply.hijack();
  const { raw } = reply;
  const shown = Object.fromEntries(
    [...answerHeaders, ...(to.alsoShow ?? [])].flatMap((name) =>
      answer.headers[name] === undefined ? [] : [[name, answer.headers[name]]],
    ),
  );
  raw.writeHead(answer.statusCode ?? 502, { ...shown, ...dataOnly });
  // The headers of a stream are sent at once, because its first event may take a while.
  raw.flushHeaders();
  try {
    await pipeline(answer, raw);
  } catch (error) {
    request.log.debug({ err: error }, 'the answer of a backend was cut off');
    raw.destroy();
  }
}

function ask(
  { raw, method }: FastifyRequest,
  { origin, path, headers, answerMs = usualAnswerMs }: Forward,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const taken = requestHeaders.flatMap((name) => (raw.headers[name] === undefined ? [] : [[name, raw.headers[name]]]));
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(origin);
    const request = http.request({
      hostname,
      port,
      method,
      path,
      agent,
      signal,
      headers: { ...(Object.fromEntries(taken) as Record<string, string>), ...headers },
    });
    const timer = setTimeout(() => request.destroy(new Error('it did not begin to answer')), answerMs);
    raw.on('data', () => timer.refresh());
    const end = () => clearTimeout(timer);
    request.once('response', (response) => (end(), resolve(response)));
    request.once(
      'error',
      (error) => (end(), reject(unavailable('This part of the service does not answer. Try again in a moment.', error))),
    );
    request.once('close', end);
    raw.pipe(request);
  });
}
