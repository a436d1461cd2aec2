import { createHash, randomBytes } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { listenOnLoopback } from '@svc/engine-kit/listen-on-loopback.ts';
import { leaseForRequest } from '@svc/engine-kit/relay-bodies.ts';
import { NoRoomForBody, readBody } from '@svc/service-kit/http/read-body.ts';
import { http, type IncomingMessage, type ServerResponse } from '@svc/service-kit/builtin.ts';
import { restoreText } from './plain-text.ts';
import { parseRefusal, type Refusal } from './refusal.ts';
import { createThoughtReader } from './thought-reader.ts';
import { openUpstream, type Upstream, type UpstreamOptions } from './upstream.ts';

/** Receives the events of a turn's model requests. */
export type RelayListener = {
  /** A streaming request, as the program sent it. */
  onRequest(body: Buffer): void;
  onThought(text: string): void;
  /** The model service refused or did not answer. The program may retry. */
  onRefusal(refusal: Refusal): void;
  /** The reply ended before the model had finished. The program retries. */
  onCut(): void;
};

export type ModelRelay = {
  /** The address of the model service for the program. */
  readonly url: string;
  /** Admits one turn, with a key of its own that is valid until `close`. */
  open(listener: RelayListener): { key: string; close(): void };
  close(): Promise<void>;
};

/** A turn with images in its history has some ten megabytes. */
const maxBodyBytes = 64 * 1024 * 1024;
const maxRefusalBytes = 256 * 1024;
/** The program silently waits as long as the vendor demands. Beyond this time, it is better to fail the turn, ms. */
const maxWaitMs = 10_000;

/**
 * A relay on loopback between the program and the model service. It keeps the vendor's key out of reach of the turn's commands, restores
 * hidden characters in the prompt, and reports thoughts and refusals, about which the program says little or nothing, to the turn.
 */
export async function startModelRelay(options: UpstreamOptions): Promise<ModelRelay> {
  const turns = new Map<string, RelayListener>();
  const upstream = openUpstream(options);
  const server = http.createServer((request, response) => {
    const listener = turns.get(digest(String(request.headers['x-goog-api-key'] ?? '')));
    if (listener === undefined) return sendError(response, 401, 'wrong key');
    forward(request, response, upstream, listener).catch((error: unknown) => {
      if (error instanceof NoRoomForBody && !response.headersSent) sendError(response, 503, error.message);
      else response.destroy();
    });
  });
  const { url, close } = await listenOnLoopback(server);
  return {
    url,
    open(listener) {
      const key = randomBytes(32).toString('base64url');
      turns.set(digest(key), listener);
      return { key, close: () => void turns.delete(digest(key)) };
    },
    close() {
      upstream.close();
      return close();
    },
  };
}

const modelRoute = /^\/v1\w*\/models\/[\w./-]+:\w+(\?alt=sse)?$/;

async function forward(request: IncomingMessage, response: ServerResponse, upstream: Upstream, listener: RelayListener) {
  const route = request.url ?? '';
  if (request.method !== 'POST' || !modelRoute.test(route)) return sendError(response, 404, 'no such route');
  const written = await readBody(request, maxBodyBytes, leaseForRequest(response));
  const isReply = route.includes(':streamGenerateContent');
  if (isReply) listener.onRequest(written);
  const answer = await upstream.send(request, route, restoreText(written), response).catch((error: unknown) => {
    if (!response.destroyed) refuse(response, { status: 0, reason: null, message: unreachable(error) }, listener);
    return null;
  });
  if (answer === null) return;
  const status = answer.statusCode ?? 502;
  if (status < 400) return sendReply(answer, response, isReply ? listener : null);
  const body = await readBody(answer, maxRefusalBytes).catch(() => Buffer.alloc(0));
  refuse(response, parseRefusal(status, body.toString('utf8'), answer.headers['retry-after'], new Date()), listener);
}

async function sendReply(answer: IncomingMessage, response: ServerResponse, listener: RelayListener | null): Promise<void> {
  response.writeHead(answer.statusCode ?? 200, { 'content-type': answer.headers['content-type'] ?? 'application/json' });
  if (listener === null) return pipeline(answer, response);
  const reader = createThoughtReader(listener.onThought);
  let programLeft = false;
  response.once('close', () => (programLeft = answer.errored === null && !answer.readableEnded));
  answer.on('data', reader.push);
  try {
    await pipeline(answer, response);
  } finally {
    if (!reader.finished && !programLeft) listener.onCut();
  }
}

/** Reports it to the turn, and to the program in a way that does not make it wait long. */
function refuse(response: ServerResponse, refusal: Refusal, listener: RelayListener): void {
  listener.onRefusal(refusal);
  // Whatever the status, the program also waits for a time that it finds in the message.
  if ((refusal.retryAfterMs ?? 0) > maxWaitMs) sendError(response, 400, 'refused');
  else sendError(response, refusal.status || 502, refusal.message);
}

function sendError(response: ServerResponse, status: number, message: string): void {
  if (response.headersSent) return void response.destroy();
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ error: { code: status, message, status: 'RELAYED' } }));
}

const unreachable = (error: unknown): string => {
  const { code, message } = error as NodeJS.ErrnoException;
  return `The model endpoint cannot be reached: ${code ?? message}`;
};

const digest = (key: string): string => createHash('sha256').update(key).digest('base64');
