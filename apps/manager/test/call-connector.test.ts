import { createServer, type AddressInfo, type Server } from 'node:net';
import { Secret } from '@svc/service-kit/secret.ts';
import { afterEach, expect, test } from 'vitest';
import { callConnector } from '../src/outbound/call-connector.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** A server in the place of the connector that gives a fixed answer. */
async function listen(answer: string) {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('data', () => (answer === '' ? undefined : socket.end(answer)));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, token: new Secret('the-token'), proof: new Secret('the-proof') };
}
const reply = (status: string, body: string, headers = '') =>
  `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n${headers}connection: close\r\n\r\n${body}`;
const post = { body: {}, timeoutMs: 20_000 };
const hurried = { ...post, timeoutMs: 300 };

test.each([
  ['no proof', ''],
  ['the token for a proof', 'x-svc-child: the-token\r\n'],
  ['a wrong proof', 'x-svc-child: another\r\n'],
])('[X03] rejects a success response with %s', async (_, headers) => {
  const tried = await callConnector(await listen(reply('200 OK', '{"ok":true}', headers)), '/out', post);
  expect(tried).toMatchObject({ ok: false, again: true, error: { message: expect.stringContaining('another program') } });
});

test('accepts a success response with the proof', async () => {
  const tried = await callConnector(await listen(reply('200 OK', '{"ok":true}', 'x-svc-child: the-proof\r\n')), '/out', post);
  expect(tried).toEqual({ ok: true, value: { ok: true } });
});

test('truncates the message of a refusal', async () => {
  const body = JSON.stringify({ message: 'x'.repeat(1_000_000) });
  const tried = await callConnector(await listen(reply('422 No', body, 'x-svc-child: the-proof\r\n')), '/out', post);
  expect(tried).toMatchObject({ ok: false, again: false, error: { code: 'unprocessable', message: 'x'.repeat(4_000) } });
});

test('does not follow a redirect', async () => {
  const endpoint = await listen(reply('302 Found', '{}', 'location: http://127.0.0.1:1/\r\nx-svc-child: the-proof\r\n'));
  expect(await callConnector(endpoint, '/out', post)).toMatchObject({ ok: false, error: { code: 'upstream' } });
});

test.each([
  ['nothing in time', '', hurried, false, 504],
  ['no JSON', reply('200 OK', 'hello', 'x-svc-child: the-proof\r\n'), post, true, 502],
  ['no HTTP', 'hello\r\n\r\n', post, true, 502],
])('reports an error when a connector answers with %s', async (_, answer, call, again, status) => {
  expect(await callConnector(await listen(answer), '/out', call)).toMatchObject({ ok: false, again, error: { status } });
});
