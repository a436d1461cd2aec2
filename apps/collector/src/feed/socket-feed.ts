import type { Duplex } from 'node:stream';
import { Server, type Socket } from 'socket.io';
import { http, type IncomingMessage, type ServerResponse } from '@svc/service-kit/builtin.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { bearerOf } from '@svc/service-kit/http/bearer-auth.ts';
import type { Hub } from '@svc/service-kit/hub.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { OutboundMask } from '@svc/service-kit/redaction/outbound-mask.ts';
import type { Secret } from '@svc/service-kit/secret.ts';
import type { FeedItem } from './feed-item.ts';
import { createFeedPump, type FeedReader } from './feed-pump.ts';

/** Loaded on the first connection. Takes requests and upgrades that have passed the guard. */
export type SocketFeed = {
  handleRequest(request: IncomingMessage, response: ServerResponse): void;
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  close(): Promise<void>;
};

/** Connections of the transport, including those that have not joined yet. */
const maxReaders = 2000;
/** Limit of responses that wait for a client which sends packets but does not read. */
const maxAnswers = 64;
const checkMs = 250;

type Deps = {
  hub: Hub<FeedItem>;
  token: Secret | null;
  clock: Clock;
  mask: OutboundMask;
  log: Pick<Log, 'error'>;
  mostReaders?: number;
};

export function createSocketFeed({ hub, token, clock, mask, log, mostReaders = maxReaders }: Deps): SocketFeed {
  const io = new Server({
    serveClient: false,
    httpCompression: false,
    // Clients send nothing but the handshake.
    maxHttpBufferSize: 16 * 1024,
    connectTimeout: 10_000,
    allowRequest: (request, decide) => {
      const isNew = !new URLSearchParams(request.url?.split('?')[1]).has('sid');
      const isTooMany = isNew && io.engine.clientsCount >= mostReaders;
      decide(isTooMany ? 'too many readers' : null, !isTooMany);
    },
  });
  // A server that never listens: otherwise the library would handle every request before our own checks.
  io.attach(http.createServer());
  io.use((socket, next) => next(admit(socket, token)));

  const pump = createFeedPump((error) => log.error({ err: error }, 'writing the live feed failed'));
  const stopChecks = clock.every(checkMs, () => dropFlooders(io));
  let unsubscribe: (() => void) | null = null;
  io.on('connection', (socket) => {
    const reader = toReader(socket, pump.resume);
    pump.add(reader);
    unsubscribe ??= hub.subscribe(({ name, data }) => pump.publish(`2["${name}",${mask.json(data)}]`));
    socket.on('disconnect', () => {
      pump.remove(reader);
      if (io.sockets.sockets.size > 0) return;
      unsubscribe?.();
      unsubscribe = null;
    });
  });
  return {
    handleRequest: (request, response) => io.engine.handleRequest(request as never, response as never),
    handleUpgrade: (request, socket, head) => io.engine.handleUpgrade(request as never, socket, head),
    async close() {
      stopChecks();
      pump.close();
      io.disconnectSockets(true);
      io.engine.close();
      await io.close();
    },
  };
}

function admit(socket: Socket, token: Secret | null): Error | undefined {
  if (token === null) return undefined;
  const { auth, headers } = socket.handshake;
  const presented: unknown = auth['token'] ?? bearerOf(headers.authorization);
  return typeof presented === 'string' && token.equals(presented) ? undefined : new Error('unauthorized');
}

type Transport = { writable: boolean; socket?: { terminate?: () => void }; on(event: 'ready', then: () => void): void };
/** Parts of the library's connection that its types leave out. */
type Connection = {
  writeBuffer: unknown[];
  transport: Transport;
  on(event: 'upgrade', then: (transport: Transport) => void): void;
  write(text: string, options: { wsPreEncodedFrame: Buffer[] }): void;
  close(isAtOnce: boolean): void;
};

function toReader(socket: Socket, onReady: () => void): FeedReader {
  const connection = socket.conn as unknown as Connection;
  connection.transport.on('ready', onReady);
  connection.on('upgrade', (transport) => transport.on('ready', onReady));
  return {
    isReady: () => connection.transport.writable && connection.writeBuffer.length === 0,
    // The same text in both forms; the transport decides which one is sent.
    write: ({ text, frames }) => connection.write(text, { wsPreEncodedFrame: [frames] }),
    drop: () => drop(connection),
  };
}

/** Drops clients that keep sending and do not read the responses. */
function dropFlooders(io: Server): void {
  const clients = (io.engine as unknown as { clients: Record<string, Connection> }).clients;
  for (const connection of Object.values(clients)) if (connection.writeBuffer.length > maxAnswers) drop(connection);
}

/** At once: a proper close would have to wait behind the unread data. */
function drop(connection: Connection): void {
  connection.transport.socket?.terminate?.();
  connection.close(true);
}
