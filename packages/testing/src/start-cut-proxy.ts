import { connect, createServer, type Socket } from 'node:net';
import { Transform } from 'node:stream';

/** A proxy before a TCP server on loopback. */
export type CutProxy = {
  port: number;
  /** Cuts all connections, whatever they are transferring. */
  cut(): void;
  /** Cuts the next connection on which the server sends this many more bytes, in the middle of them; settles when it is cut. */
  cutAfter(bytes: number): Promise<void>;
  close(): Promise<void>;
};

export async function startCutProxy(target: number): Promise<CutProxy> {
  const sockets = new Set<Socket>();
  let limit: { bytes: number; reached(): void } | null = null;
  /** Forwards the server's bytes, up to the limit. */
  const upToLimit = () => {
    let carried = 0;
    let counted: typeof limit = null;
    return new Transform({
      transform(chunk: Buffer, _encoding, done) {
        if (counted !== limit) [counted, carried] = [limit, 0];
        const room = (limit?.bytes ?? Infinity) - carried;
        carried += chunk.length;
        if (chunk.length < room) return done(null, chunk);
        this.push(chunk.subarray(0, room));
        this.push(null);
        limit?.reached();
        limit = null;
        return undefined; // nothing more is asked for
      },
    });
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
    upstream.pipe(upToLimit()).pipe(client);
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
