import { createServer } from 'node:net';

/**
 * Below the range that Linux and macOS use for outgoing connections and port 0, so that a process that binds such a port some seconds later
 * still finds it free. Node's `fetch` refuses 10080.
 */
const range = { from: 10_100, to: 32_700 };
const slices = 16;

/**
 * The ports of one of the workers that run test files at the same time: a port is free for a moment when a test restarts its process, and must
 * not be given to another test then.
 */
export function sliceOf(worker: number): { from: number; to: number } {
  const size = Math.floor((range.to - range.from) / slices);
  const from = range.from + (worker % slices) * size;
  return { from, to: from + size - 1 };
}

const own = sliceOf(Number(process.env['VITEST_POOL_ID'] ?? 0));
/** Two runs of the tests on one machine start at different ports. */
let next = own.from + Math.floor(Math.random() * (own.to - own.from));

/** Free ports, all different, and different from the hundreds returned to this process before. */
export async function freePorts(count: number): Promise<number[]> {
  const found: number[] = [];
  for (let tries = 0; found.length < count; tries += 1) {
    if (tries > count + 1000) throw new Error('no port is free');
    next = next >= own.to ? own.from : next + 1;
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
