import { rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { maxLinkLine, type LinkReply, type LinkRequest } from '@svc/contract/link.ts';
import { createLineSplitter } from '@svc/service-kit/line-splitter.ts';

export type LinkCall = {
  request: LinkRequest;
  /** Number of its connection, from 1. */
  connection: number;
  /** Sends replies in one write. The id of the call is filled in. */
  reply(...replies: ReplyBody[]): void;
  /** Sends a text unchanged, to simulate a faulty core. */
  raw(text: string): void;
  /** Breaks the connection of this call. */
  hangUp(): void;
};

export type ReplyBody = LinkReply extends infer R ? (R extends LinkReply ? Omit<R, 'id'> : never) : never;

export type LinkServer = {
  calls: LinkCall[];
  /** The passes that links began with, one for each connection. */
  passes: string[];
  /** Total number of connections so far. */
  connections: number;
  /** Breaks every link, and continues to listen. */
  breakLinks(): void;
  stop(): Promise<void>;
};

/** The core's side of the connector link, answering as a test says. Replaces the socket file of an earlier one. */
export async function startLinkServer(socketPath: string, answer: (call: LinkCall) => void): Promise<LinkServer> {
  rmSync(socketPath, { force: true });
  const sockets = new Set<Socket>();
  const link: LinkServer = {
    calls: [],
    passes: [],
    connections: 0,
    breakLinks: () => destroyAll(sockets),
    stop: () => stop(server, sockets),
  };
  const server = createServer((socket) => {
    const connection = ++link.connections;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    const splitter = createLineSplitter(
      maxLinkLine,
      (line) => {
        const request = JSON.parse(line) as LinkRequest;
        if (request.op === 'hello') return void link.passes.push(request.pass);
        const call = toCall(socket, connection, request);
        link.calls.push(call);
        answer(call);
      },
      () => socket.destroy(),
    );
    socket.on('data', (chunk) => splitter.push(chunk));
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(socketPath, resolve));
  return link;
}

const toCall = (socket: Socket, connection: number, request: LinkRequest): LinkCall => ({
  request,
  connection,
  reply: (...replies) => void socket.write(replies.map((reply) => `${JSON.stringify({ id: request.id, ...reply })}\n`).join('')),
  raw: (text) => void socket.write(text),
  hangUp: () => socket.destroy(),
});

const destroyAll = (sockets: Set<Socket>) => {
  for (const socket of sockets) socket.destroy();
};

function stop(server: Server, sockets: Set<Socket>): Promise<void> {
  destroyAll(sockets);
  return new Promise((resolve) => server.close(() => resolve()));
}
