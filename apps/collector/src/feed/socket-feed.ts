import type { Duplex } from 'node:stream';
import { Server, type Socket } from 'socket.io';
import { http, type IncomingMessage, type ServerResponse } from '@svc/service-kit/builtin.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { bearerOf } from '@svc/service-kit/http/bearer-auth.ts';
import type { Hub } from '@svc/service-kit/hub.ts';
import type { OutboundMask } from '@svc/service-kit/redaction/outbound-mask.ts';
import type { Secret } from '@svc/service-kit/secret.ts';
import type { FeedItem } from './feed-item.ts';

/** Loaded on the first connection. Takes requests and upgrades that have passed the guard. */
export type SocketFeed = {
  handleRequest(request: IncomingMessage, response: ServerResponse): void;
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  close(): Promise<void>;
};

/** What may wait for one reader; checked this often, and within a burst after so many items. */
const maxWaitingBytes = 1024 * 1024;
const checkMs = 250;
const checkItems = 256;
const maxReaders = 2000;

type Deps = { hub: Hub<FeedItem>; token: Secret | null; clock: Clock; mask: OutboundMask };

export function createSocketFeed({ hub, token, clock, mask }: Deps): SocketFeed {
  const io = new Server({
    serveClient: false,
    httpCompression: false,
    // Nobody has anything to say here beyond the handshake.
    maxHttpBufferSize: 16 * 1024,
    connectTimeout: 10_000,
  });
  // A server that never listens: the library would otherwise take every request of ours before our own checks.
  io.attach(http.createServer());
  io.use((socket, next) => next(admit(socket, token, io)));

  let unsubscribe: (() => void) | null = null;
  let stopChecks = () => {};
  let sinceCheck = 0;
  const check = () => {
    sinceCheck = 0;
    for (const socket of io.sockets.sockets.values()) if (waitingBytes(socket) > maxWaitingBytes) drop(socket);
  };
  const publish = ({ name, data }: FeedItem) => {
    io.emit(name, mask.write(data).value);
    if (++sinceCheck >= checkItems) check();
  };
  io.on('connection', (socket) => {
    unsubscribe ??= listen();
    socket.on('disconnect', () => {
      if (io.sockets.sockets.size > 0) return;
      stopChecks();
      unsubscribe?.();
      unsubscribe = null;
    });
  });
  const listen = () => {
    stopChecks = clock.every(checkMs, check);
    return hub.subscribe(publish);
  };
  return {
    handleRequest: (request, response) => io.engine.handleRequest(request as never, response as never),
    handleUpgrade: (request, socket, head) => io.engine.handleUpgrade(request as never, socket, head),
    async close() {
      io.disconnectSockets(true);
      io.engine.close();
      await io.close();
    },
  };
}

function admit(socket: Socket, token: Secret | null, io: Server): Error | undefined {
  if (io.sockets.sockets.size >= maxReaders) return new Error('too many readers');
  if (token === null) return undefined;
  const { auth, headers } = socket.handshake;
  const presented: unknown = auth['token'] ?? bearerOf(headers.authorization);
  return typeof presented === 'string' && token.equals(presented) ? undefined : new Error('unauthorized');
}

type Connection = {
  writeBuffer: { data?: unknown }[];
  transport: { socket?: { bufferedAmount?: number; terminate?: () => void } };
};

/** What a reader has not taken yet. A text that waits for many is in memory once, but counts for each. */
function waitingBytes(socket: Socket): number {
  // The library hands out no number for it.
  const { writeBuffer, transport } = socket.conn as unknown as Connection;
  let bytes = transport.socket?.bufferedAmount ?? 0;
  for (const { data } of writeBuffer) {
    if (bytes > maxWaitingBytes) return bytes;
    bytes += typeof data === 'string' ? data.length : 64;
  }
  return bytes;
}

/** At once: a farewell would have to wait behind what is not read. */
function drop(socket: Socket): void {
  (socket.conn as unknown as Connection).transport.socket?.terminate?.();
  socket.disconnect(true);
}
