import type { AddressInfo } from 'node:net';
import type { Server } from '@svc/service-kit/builtin.ts';

export type Listening = { url: string; port: number; close(): Promise<void> };

/** Lets a server listen on loopback, on a free port unless one is named. `close` also ends the connections that are open. */
export async function listen(server: Server, port = 0): Promise<Listening> {
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', () => resolve()));
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${taken}`,
    port: taken,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
