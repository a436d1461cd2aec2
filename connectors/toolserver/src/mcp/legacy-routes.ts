import { randomUUID } from 'node:crypto';
import {
  parseJSONRPCMessage,
  type JSONRPCMessage,
  type McpServer,
  type MessageExtraInfo,
  type Transport,
} from '@modelcontextprotocol/server';
import { createJsonReader, createSseWriter, type Exchange, type Route, type SseWriter } from '@svc/connector-kit';
import type { Clock } from '@svc/service-kit/clock.ts';
import { badRequest, forbidden, queueFull, ServiceError } from '@svc/service-kit/service-error.ts';
import { toNotification } from '../notes/open-streams.ts';
import type { CheckToken } from '../oauth/check-token.ts';
import { createServer, type ServerDeps } from './create-server.ts';
import { endWithToken } from './end-with-token.ts';
import { toAuthInfo } from './mcp-auth.ts';
import { maxMessageBytes } from './mcp-route.ts';

type Stream = { id: string; userId: string; transport: LegacyTransport };

const maxStreams = 500;

/**
 * The transport of protocol versions before 2025: a lasting event stream, with separate requests for messages. One stream per
 * user; a new one ends the old one.
 */
export function createLegacyRoutes(deps: ServerDeps, checkToken: CheckToken, clock: Clock): Route[] {
  const streams = new Map<string, Stream>();
  const readJson = createJsonReader({ bodyBytes: maxMessageBytes, totalBytes: 4 * maxMessageBytes });

  async function openStream(exchange: Exchange): Promise<void> {
    const caller = await checkToken(exchange);
    // The stream of a client that has left meanwhile would never end, and messages sent to it would be lost.
    if (exchange.res.destroyed) return;
    const { userId, clientId } = caller;
    const over = deps.access.begin(clientId, () => exchange.res.destroy());
    exchange.res.once('close', over);
    // Without a pause: of two streams opened at once, one would be left open that no message can use.
    void streams.get(userId)?.transport.close();
    if (streams.size >= maxStreams) throw queueFull(`${maxStreams} streams are open, which is the maximum. Try again later.`);
    const id = randomUUID();
    const transport = new LegacyTransport(createSseWriter(exchange, clock), id);
    const stream = { id, userId, transport };
    streams.set(userId, stream);
    const left = new AbortController();
    const scope = {
      caller,
      requestId: exchange.requestId,
      onSent: (act: () => void) => transport.afterNextWrite(act),
      left: left.signal,
      keeps: () => undefined,
    };
    const server = createServer(deps, toAuthInfo(scope));
    const leave = deps.streams.add(userId, (text) => server.server.notification(toNotification(text)));
    const end = () => void transport.close();
    endWithToken(exchange, caller, clock);
    exchange.stopping.addEventListener('abort', end, { once: true });
    exchange.res.once('close', () => {
      leave();
      left.abort();
      exchange.stopping.removeEventListener('abort', end);
      if (streams.get(userId) === stream) streams.delete(userId);
      void closeQuietly(server);
    });
    await server.connect(transport);
  }

  async function takeMessage(exchange: Exchange): Promise<void> {
    const caller = await checkToken(exchange);
    const id = new URLSearchParams(exchange.req.url?.split('?')[1] ?? '').get('sessionId');
    const stream = streams.get(caller.userId);
    if (stream === undefined || stream.id !== id)
      throw forbidden('This stream has ended or is not yours. Open a new one: GET /sse');
    const message = parseMessage(await readJson(exchange.req));
    deps.running.look(caller.clientId, message);
    exchange.res.writeHead(202, { 'x-request-id': exchange.requestId }).end('Accepted');
    stream.transport.onmessage?.(message, {});
  }

  return [
    { method: 'GET', path: '/sse', handle: openStream },
    { method: 'POST', path: '/message', handle: takeMessage },
  ];
}

function parseMessage(body: unknown): JSONRPCMessage {
  try {
    return parseJSONRPCMessage(body);
  } catch (cause) {
    throw new ServiceError('bad_request', 'The body is not a valid JSON-RPC message.', { cause });
  }
}

/** A client that is gone gets nothing more. */
const closeQuietly = (server: McpServer): Promise<void> => server.close().catch(() => undefined);

/** Writes to the event stream; what comes in is handed over by the route of messages. */
class LegacyTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage, extra?: MessageExtraInfo) => void;
  readonly sessionId: string;
  readonly #writer: SseWriter;
  #acts: (() => void)[] = [];
  #isClosed = false;

  constructor(writer: SseWriter, sessionId: string) {
    this.#writer = writer;
    this.sessionId = sessionId;
  }

  async start(): Promise<void> {
    this.#writer.send(`event: endpoint\ndata: /message?sessionId=${this.sessionId}\n\n`);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) throw badRequest('The stream has ended.');
    this.#writer.send(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
    for (const act of this.#acts.splice(0)) act();
  }

  /** For what is to be done once the answer that is being made is written. */
  afterNextWrite(act: () => void): void {
    this.#acts.push(act);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#writer.end();
    this.onclose?.();
  }
}
