import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex } from 'node:stream';
import { http } from '@svc/service-kit/builtin.ts';
import { listen } from '@svc/testing/listen.ts';

/** A program without a login: it reports the headers that reached it, on a page and over a WebSocket. */
export async function startProtectedProgram() {
  const seen: IncomingHttpHeaders[] = [];
  const sockets: Duplex[] = [];
  const server = http.createServer((request, response) => {
    seen.push(request.headers);
    response.setHeader('content-type', 'text/plain').end(`Protected, for ${String(request.headers['remote-user'])}`);
  });
  server.on('upgrade', ({ headers }, socket) => {
    seen.push(headers);
    const accept = createHash('sha1')
      .update(`${String(headers['sec-websocket-key'])}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest('base64');
    const text = Buffer.from(`for ${String(headers['remote-user'])}`);
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    socket.write(Buffer.concat([Buffer.from([0x81, text.length]), text]));
    socket.on('error', () => socket.destroy());
    sockets.push(socket);
  });
  const { port, close } = await listen(server);
  return {
    port,
    seen,
    close() {
      for (const socket of sockets) socket.destroy(); // the server knows nothing of those that were upgraded
      return close();
    },
  };
}
