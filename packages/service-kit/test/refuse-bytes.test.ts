import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { http, type ServerResponse } from '@svc/service-kit/builtin.ts';
import { refuseBytes } from '@svc/service-kit/http/refuse-bytes.ts';

/** A server that answers as a test wants, and a connection to it. */
async function open(answer: (response: ServerResponse) => void): Promise<Socket> {
  const server = http.createServer((_request, response) => answer(response)).on('clientError', refuseBytes);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  onTestFinished(() => {
    socket.destroy();
    server.close();
    server.closeAllConnections();
  });
  await once(socket, 'connect');
  return socket;
}

async function readAll(socket: Socket): Promise<string> {
  let text = '';
  socket.setEncoding('utf8').on('data', (part: string) => (text += part));
  socket.on('error', () => undefined);
  await once(socket, 'close');
  return text;
}

const good = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const answersIn = (text: string): string[] => text.match(/HTTP\/1\.1 \d+/g) ?? [];

test('an answer that has begun is cut off, and no refusal is written into it', async () => {
  const socket = await open((response) => response.writeHead(200, { 'content-length': '100000' }).write('the beginning'));
  const all = readAll(socket);
  socket.write(good);
  await once(socket, 'data');
  socket.write('no request\r\n\r\n');
  expect(answersIn(await all)).toEqual(['HTTP/1.1 200']);
});

test('behind an answer that is whole the refusal stands by itself', async () => {
  const socket = await open((response) => response.end('all of it'));
  const all = readAll(socket);
  socket.write(good);
  await once(socket, 'data');
  socket.write('no request\r\n\r\n');
  expect(answersIn(await all)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
});
