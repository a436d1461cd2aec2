import { createServer } from 'node:net';

/**
 * Below the range that Linux and macOS use for outgoing connections and port 0, so that a process that binds such a port some seconds later
 * still finds it free. Node's `fetch` refuses 10080.
 */
const range = { from: 10_100, to: 32_700 };

/** Test files run in separate processes, which start at different ports. */
let next = range.from + Math.floor(Math.random() * (range.to - range.from));

/** Free ports, all different, and different from those returned to this process before. */
export async function freePorts(count: number): Promise<number[]> {
  const found: number[] = [];
  for (let tries = 0; found.length < count; tries += 1) {
    if (tries > count + 1000) throw new Error('no port is free');
    next = next >= range.to ? range.from : next + 1;
    if (await canListen(next)) found.push(next);
  }
  return found;
}

/** A free port, for a process that must restart on the same one. */
export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}

const canListen = (port: number) =>
  new Promise<boolean>((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => server.close(() => resolve(true)));
  });
