import type { FastifyReply, FastifyRequest } from 'fastify';
import { pipeline } from 'node:stream/promises';
import { http, type IncomingMessage } from '@svc/service-kit/builtin.ts';
import { unavailable } from '@svc/service-kit/service-error.ts';

/** What of a request a backend gets to see. Everything else, cookies and names above all, stays here. */
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
/** What of an answer the browser gets to see. */
const answerHeaders = [
  'content-type',
  'content-length',
  'content-range',
  'content-disposition',
  'content-security-policy', // of files that were sent here
  'accept-ranges',
  'etag',
  'retry-after',
  'x-accel-buffering',
  'x-request-id',
] as const;

/** An answer is data: opened as a page, whatever it holds, it runs and loads nothing and is of no site. */
const dataOnly = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'cross-origin-resource-policy': 'same-origin',
} as const;

/** How long a backend may take until it begins to answer, from the last that it was sent: a side call of an engine takes a while. */
const usualAnswerMs = 120_000;
const agent = new http.Agent({ keepAlive: true, maxSockets: 256 });

export type Forward = {
  /** Address of the backend. */
  origin: string;
  /** With its query, as it came. */
  path: string;
  headers: Record<string, string>;
  /** Ends the exchange, whatever state it is in. */
  signal?: AbortSignal;
  /** How long the backend may take until it begins to answer. */
  answerMs?: number;
  /** Headers of the answer to be let through besides. */
  alsoShow?: readonly string[];
};

/**
 * Sends a request on to a backend, and its answer back, both as they come.
 * @throws ServiceError `unavailable` when no answer begins. Once one has begun, a break ends the connection.
 */
export async function forward(request: FastifyRequest, reply: FastifyReply, to: Forward): Promise<void> {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  const signal = to.signal === undefined ? gone.signal : AbortSignal.any([gone.signal, to.signal]);
  const answer = await ask(request, to, signal);
  reply.hijack();
  const { raw } = reply;
  const shown = Object.fromEntries(
    [...answerHeaders, ...(to.alsoShow ?? [])].flatMap((name) =>
      answer.headers[name] === undefined ? [] : [[name, answer.headers[name]]],
    ),
  );
  raw.writeHead(answer.statusCode ?? 502, { ...shown, ...dataOnly });
  // The head of a stream says that it is open, which may be all that is said for a while.
  raw.flushHeaders();
  try {
    await pipeline(answer, raw);
  } catch (error) {
    request.log.debug({ err: error }, 'an answer of a backend was cut off');
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
