import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { http, type IncomingMessage, type ServerResponse } from '../builtin.ts';
import { createUnreadReplies } from './unread-replies.ts';
import { boundConnections } from './bound-connections.ts';

const mib = 1024 * 1024;

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** A server limited to three connections that answers when the handler says so. */
async function open(handle: Handler = (_request, response) => response.end('here')) {
  const warnings: string[] = [];
  const server = http.createServer(handle);
  const log = { warn: (text: unknown) => warnings.push(String(text)) } as never;
  const connections = boundConnections({ server, log, unread: createUnreadReplies(8 * mib), most: 3 });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const join = async (): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    await once(socket, 'connect');
    return socket.resume();
  };
  return { server, connections, warnings, port, join };
}

test('closes the oldest idle connection over the limit, and reports it to /health', async () => {
  const { join, connections, warnings, port } = await open();
  const idle = [await join(), await join(), await join()];
  const gone = once(idle[0]!, 'close');
  expect(connections.fault()).toBeNull();
  const answer = await fetch(`http://127.0.0.1:${port}/`);
  expect(await answer.text()).toBe('here');
  await gone;
  expect(connections.fault()).toMatch(/^3 connections are open/);
  await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } });
  expect(warnings).toHaveLength(1);
});

test('does not close a connection that waits for its answer', async () => {
  const waiting: ServerResponse[] = [];
  const { join, connections } = await open((_request, response) => void waiting.push(response));
  const asked: Socket[] = [];
  for (let n = 1; n <= 4; n++) {
    const socket = await join();
    asked.push(socket);
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await expect.poll(() => waiting.length).toBe(n);
  }
  expect(connections.areTaken()).toBe(true);
  const newest = await join();
  expect(asked.some(({ destroyed }) => destroyed)).toBe(false);
  for (const response of waiting) response.end();
  await expect.poll(connections.areTaken).toBe(false);
  newest.destroy();
});

test('a thousand half-open connections lock no one out', async () => {
  const { join, port } = await open();
  const half: Socket[] = [];
  for (let n = 0; n < 1000; n++) {
    const socket = await join();
    socket.write('GET / HTTP/1.1\r\nHo');
    half.push(socket);
  }
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('here');
  await expect.poll(() => half.filter(({ destroyed }) => !destroyed).length).toBeLessThan(4);
});

test('survives running out of descriptors', async () => {
  const { server, connections } = await open();
  server.emit('error', Object.assign(new Error('accept EMFILE'), { syscall: 'accept' }));
  expect(connections.fault()).toBe('connections cannot be accepted: accept EMFILE');
});

/** Sends a request and reads nothing of the answer. */
async function stall(join: () => Promise<Socket>): Promise<void> {
  const socket = await join();
  socket.pause();
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
}

test('disconnects a client that does not read a finished reply', async () => {
  const ended = Promise.withResolvers<void>();
  const { join } = await open((_request, response) => {
    const { setTimeout: original } = response;
    response.setTimeout = (_ms, then) => original.call(response, 20, then);
    response.end('x'.repeat(7 * mib)).once('close', ended.resolve);
  });
  await stall(join);
  await ended.promise;
});

test('disconnects the client with the most unread data when the total exceeds the limit', async () => {
  const closed: number[] = [];
  const sizes = [5, 7, 6];
  const { join } = await open((_request, response) => {
    const size = sizes.shift() ?? 0;
    response.end('x'.repeat(size * mib)).once('close', () => closed.push(size));
  });
  await stall(join);
  await expect.poll(() => sizes.length).toBe(2);
  await stall(join);
  await expect.poll(() => closed).toEqual([7]);
  await stall(join);
  await expect.poll(() => closed.length).toBe(2);
});
