import { createServer } from 'node:net';

/**
 * Below what Linux and macOS give to outgoing connections and to those who listen on port 0: a process that binds a port of these some seconds later
 * still finds it free. Node's `fetch` refuses 10080.
 */
const range = { from: 10_100, to: 32_700 };

/** Files of tests run in processes of their own, which begin at different places. */
let next = range.from + Math.floor(Math.random() * (range.to - range.from));

/** Ports that are free just now, all different, and different from those that this process got before. */
export async function freePorts(count: number): Promise<number[]> {
  const found: number[] = [];
  for (let tries = 0; found.length < count; tries += 1) {
    if (tries > count + 1000) throw new Error('no port is free');
    next = next >= range.to ? range.from : next + 1;
    if (await canListen(next)) found.push(next);
  }
  return found;
}

/** A port that is free just now: a process that is started again has to come back on the same one. */
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
