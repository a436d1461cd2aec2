import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** `close` also closes open connections. */
export type LoopbackServer = { url: string; close(): Promise<void> };

/** Makes a server listen on loopback, on a port that the system chooses. `url` has no trailing slash. */
export async function listenOnLoopback(server: Server): Promise<LoopbackServer> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
