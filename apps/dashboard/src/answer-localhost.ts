import type { Server } from 'node:http';
import { createServer } from 'node:net';

/**
 * Lets a server that listens on 127.0.0.1 also answer on ::1, where IPv6 exists: browsers try it first for `localhost`. Another program that listened
 * there would be shown as the dashboard, and get the set-up link. The returned function closes it. @throws when another
 * program has the port there
 */
export async function answerLocalhost(server: Server, port: number): Promise<() => void> {
  const beside = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => server.emit('connection', socket));
  await new Promise<void>((resolve, reject) => {
    beside.once('error', (error: NodeJS.ErrnoException) => (isNoIpv6(error) ? resolve() : reject(error)));
    beside.listen({ host: '::1', port, exclusive: true }, resolve);
  });
  return () => void beside.close();
}

const isNoIpv6 = ({ code }: NodeJS.ErrnoException): boolean => code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT';
