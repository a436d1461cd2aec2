import type { Socket } from 'node:net';
import type { IncomingMessage, Server, ServerResponse } from '../builtin.ts';
import type { Log } from '../log.ts';
import type { UnreadReplies } from './unread-replies.ts';
import { descriptorLimit } from '../process/descriptor-limit.ts';

const mostConnections = 4096;
/** Kept free for who asks how the process does. */
const reserve = 64;
const shownMs = 60_000;
/** How long the reader of a finished reply may take nothing of it, ms. */
const unreadMs = 30_000;

type Deps = { server: Server; log: Pick<Log, 'warn'>; unread: UnreadReplies; most?: number };

export type Connections = {
  /** Every place is taken by a request that is not answered yet. */
  areTaken(): boolean;
  /** One line for /health while connections were closed or could not be taken within the last minute; null otherwise. */
  fault(): string | null;
  /** For a server that is closing: each connection ends with the answer that is on its way, though its caller would keep it open. */
  closeWhenAnswered(): void;
};

/**
 * Bounds how many connections a server holds, below what the system lets it open. When they are all taken, those on which
 * nothing is asked make room, oldest first, so that half-open ones keep nobody out.
 */
export function boundConnections({ server, log, unread, most = connectionLimit() }: Deps): Connections {
  /** Without a request, oldest first. */
  const idle = new Set<Socket>();
  let open = 0;
  let busy = 0;
  let closesWhenAnswered = false;
  let lastFault = '';
  let lastAt = Number.NEGATIVE_INFINITY;
  const isShown = () => performance.now() - lastAt < shownMs;
  const note = (fault: string) => {
    if (!isShown()) log.warn(fault);
    lastFault = fault;
    lastAt = performance.now();
  };
  const closeIdle = () => server.closeIdleConnections();
  const makeRoom = (newest: Socket) => {
    const [oldest] = idle;
    if (oldest === undefined || oldest === newest) return;
    note(`${most} connections are open, which is the limit here; those on which nothing is asked are closed`);
    oldest.destroy();
  };

  server.maxConnections = most + reserve;
  server.on('drop', () => note(`${most + reserve} connections are open, which is the limit here; more are refused`));
  // Without a listener this would end the process: descriptors may be short for reasons that are not ours.
  server.on('error', (error: NodeJS.ErrnoException) => {
    if (error.syscall === 'accept') note(`connections cannot be taken: ${error.message}`);
  });
  server.on('connection', (socket: Socket) => {
    open++;
    idle.add(socket);
    socket.once('close', () => {
      open--;
      idle.delete(socket);
    });
    if (open > most) makeRoom(socket);
  });
  // Before the request is handled: an answer may be given at once.
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    busy++;
    idle.delete(socket);
    response.once('prefinish', () => expectReader(response, unread));
    response.once('close', () => {
      busy--;
      if (!socket.destroyed) idle.add(socket);
      if (closesWhenAnswered) setImmediate(closeIdle);
    });
  });
  server.on('upgrade', ({ socket }: IncomingMessage) => idle.delete(socket));
  return {
    areTaken: () => busy > most,
    fault: () => (isShown() ? lastFault : null),
    closeWhenAnswered: () => void (closesWhenAnswered = true),
  };
}

/** A reply that is not all with the system yet has a reader to wait for, but not for ever. */
function expectReader(response: ServerResponse, unread: UnreadReplies): void {
  if (response.socket === null || response.socket.writableLength === 0) return;
  unread.wrote(response);
  response.setTimeout(unreadMs, () => response.destroy());
}

/** Half of the descriptors that the system gives this process; the rest is for files and what it asks itself. */
function connectionLimit(): number {
  return Math.max(reserve, Math.min(mostConnections, Math.floor(descriptorLimit() / 2) - reserve));
}
