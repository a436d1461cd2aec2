import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { http, type ServerResponse } from '@svc/service-kit/builtin.ts';
import { answerRefusedRequests, type RenderRefusal } from '@svc/service-kit/http/refuse-bytes.ts';

/** A server that answers as the test says, and a connection to it. */
async function open(answer: (response: ServerResponse) => void, render?: RenderRefusal): Promise<Socket> {
  const server = http.createServer(
    { requireHostHeader: false, headersTimeout: 300, connectionsCheckingInterval: 50 },
    (_, response) => answer(response),
  );
  answerRefusedRequests(server, render);
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

test('cuts off a response that has begun, without writing a refusal into it', async () => {
  const socket = await open((response) => response.writeHead(200, { 'content-length': '100000' }).write('the beginning'));
  const all = readAll(socket);
  socket.write(good);
  await once(socket, 'data');
  socket.write('no request\r\n\r\n');
  expect(answersIn(await all)).toEqual(['HTTP/1.1 200']);
});

test('sends the refusal after a complete response', async () => {
  const socket = await open((response) => response.end('all of it'));
  const all = readAll(socket);
  socket.write(good);
  await once(socket, 'data');
  socket.write('no request\r\n\r\n');
  expect(answersIn(await all)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
});

type Refused = [what: string, bytes: string, status: number];
const refused: Refused[] = [
  ['bytes that are no request', 'nonsense\r\n\r\n', 400],
  ['the greeting of TLS', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003\r\n\r\n', 400],
  ['another version', 'GET / HTTP/9.9\r\nHost: a\r\n\r\n', 400],
  ['two lengths', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx', 400],
  ['a length and chunks', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\nx', 400],
  ['an invalid length', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n', 400],
  ['a NUL in a header', 'GET / HTTP/1.1\r\nHost: a\r\nX: \u0000\r\n\r\n', 400],
  ['headers of 20 KB', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ['headers of 4 MB', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(4_000_000)}\r\n\r\n`, 431],
  ['an address of 20 KB', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 431],
  ['headers that do not come', 'GET / HTTP/1.1\r\nHost: a\r\nX: ', 408],
  ['a tunnel', 'CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n', 405],
  ['an expectation', 'POST / HTTP/1.1\r\nHost: a\r\nExpect: tea\r\nContent-Length: 1\r\n\r\nx', 417],
];

/** Parses the only answer on a connection. */
function parseAnswer(text: string) {
  const [head = '', body = ''] = text.split('\r\n\r\n');
  const [line = '', ...fields] = head.split('\r\n');
  const headers = Object.fromEntries(
    fields.map((field) => [field.slice(0, field.indexOf(':')).toLowerCase(), field.slice(field.indexOf(':') + 2)]),
  );
  return { status: Number(line.split(' ')[1]), headers, body };
}

describe.each(refused)('%s', (_what, bytes, status) => {
  test('is rejected with an error body, and the connection closes', async () => {
    const socket = await open((response) => response.end('served'));
    const all = readAll(socket);
    socket.write(Buffer.from(bytes, 'latin1'));
    const { headers, body, ...answer } = parseAnswer(await all);
    expect(answer.status).toBe(status);
    expect(headers).toMatchObject({
      connection: 'close',
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
    });
    expect(JSON.parse(body)).toEqual({
      ok: false,
      error: 'bad_request',
      message: expect.stringMatching(/\w/) as string,
      request_id: headers['x-request-id'],
    });
  });

  test('is rejected with the error that the server renders', async () => {
    const socket = await open(
      (response) => response.end('served'),
      (error) => ({ body: JSON.stringify({ said: error.status }), headers: { 'x-own': 'yes' } }),
    );
    const all = readAll(socket);
    socket.write(Buffer.from(bytes, 'latin1'));
    const { headers, body } = parseAnswer(await all);
    expect([JSON.parse(body), headers['x-own']]).toEqual([{ said: status }, 'yes']);
  });
});

test('a request without Host is left to the host check', async () => {
  const socket = await open((response) => response.end('the guard'));
  const all = readAll(socket);
  socket.write('GET / HTTP/1.1\r\nConnection: close\r\n\r\n');
  expect(await all).toContain('the guard');
});

test('answers a client that sends without end once, and disconnects it', async () => {
  const socket = await open((response) => response.end('served'));
  const all = readAll(socket);
  const more = () => void (socket.writable && socket.write('nonsense\r\n\r\n'.repeat(1000), more));
  more();
  expect(answersIn(await all)).toEqual(['HTTP/1.1 400']);
});
