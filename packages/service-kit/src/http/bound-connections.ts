import type { Socket } from 'node:net';
import type { IncomingMessage, Server, ServerResponse } from '../builtin.ts';
import type { Log } from '../log.ts';
import type { UnreadReplies } from './unread-replies.ts';
import { descriptorLimit } from '../process/descriptor-limit.ts';

const mostConnections = 4096;
/** Reserved for health checks. */
const reserve = 64;
const shownMs = 60_000;
/** How long the reader of a finished reply may read nothing of it, ms. */
const unreadMs = 30_000;

type Deps = { server: Server; log: Pick<Log, 'warn'>; unread: UnreadReplies; most?: number };

export type Connections = {
  /** Whether every connection has an open request. */
  areTaken(): boolean;
  /** One line for /health if connections were closed or refused within the last minute; else null. */
  fault(): string | null;
  /** For a server that is closing: closes each connection after its current response, even if the client would keep it open. */
  closeWhenAnswered(): void;
};

/**
 * Limits the connections of a server, below the limit of the system. When there are too many, idle ones are closed, oldest
 * first, so that half-open connections do not lock others out.
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
    note(`${most} connections are open, which is the limit; idle ones are closed`);
    oldest.destroy();
  };

  server.maxConnections = most + reserve;
  server.on('drop', () => note(`${most + reserve} connections are open, which is the limit; new ones are refused`));
  // Without a listener this would end the process. Descriptors may run out for external reasons.
  server.on('error', (error: NodeJS.ErrnoException) => {
    if (error.syscall === 'accept') note(`connections cannot be accepted: ${error.message}`);
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
  // Before the request is handled, because it may be answered at once.
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

/** Limits the wait for the reader of a reply that is not yet fully handed to the system. */
function expectReader(response: ServerResponse, unread: UnreadReplies): void {
  if (response.socket === null || response.socket.writableLength === 0) return;
  unread.wrote(response);
  response.setTimeout(unreadMs, () => response.destroy());
}

/** Half of the descriptors of this process; the rest is for files and its own requests. */
function connectionLimit(): number {
  return Math.max(reserve, Math.min(mostConnections, Math.floor(descriptorLimit() / 2) - reserve));
}
