import { connect, createServer, type Socket } from 'node:net';

/** Stands before a server of TCP on loopback. */
export type CutProxy = {
  port: number;
  /** Cuts all connections, in the middle of whatever they carry. */
  cut(): void;
  /** Cuts the next connection over which the server sends so many more bytes, in their middle; settles when it is cut. */
  cutAfter(bytes: number): Promise<void>;
  close(): Promise<void>;
};

export async function startCutProxy(target: number): Promise<CutProxy> {
  const sockets = new Set<Socket>();
  let limit: { bytes: number; reached(): void } | null = null;
  const carry = (from: Socket, to: Socket) => {
    let carried = 0;
    let counts: typeof limit = null;
    from.on('data', (chunk: Buffer) => {
      if (counts !== limit) [counts, carried] = [limit, 0];
      carried += chunk.length;
      if (limit === null || carried < limit.bytes) return to.write(chunk) || from.pause();
      to.end(chunk.subarray(0, chunk.length - (carried - limit.bytes)));
      from.destroy();
      limit.reached();
      return (limit = null);
    });
    to.on('drain', () => from.resume());
    from.on('end', () => to.end());
  };
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
    client.pipe(upstream);
    carry(upstream, client);
  });
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as { port: number }).port,
    cut,
    cutAfter: (bytes) => new Promise((reached) => (limit = { bytes, reached })),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        cut();
      }),
  };
}
