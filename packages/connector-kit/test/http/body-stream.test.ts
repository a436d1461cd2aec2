import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { badRequest } from '@svc/service-kit/service-error.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { sendJson } from '../../src/http/exchange.ts';
import type { Route } from '../../src/http/route-table.ts';
import { echo, health, openServer } from './open-server.ts';

const mib = 1024 * 1024;

function uploads(maxBytes = 8 * mib, take: (part: Buffer) => Promise<void> = async () => undefined) {
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<unknown>();
  let length = 0;
  const route: Route = {
    method: 'POST',
    path: '/file',
    streamsBody: { maxBytes, idleMs: 30_000 },
    async handle(exchange) {
      try {
        begun.resolve();
        for await (const part of exchange.body) {
          length += part.length;
          await take(part);
        }
        ended.resolve(null);
      } catch (error) {
        ended.resolve(error);
        throw error;
      }
      sendJson(exchange, { status: 200, body: JSON.stringify(length) });
    },
  };
  return { route, begun: begun.promise, ended: ended.promise, length: () => length };
}
const head = (more = 'Transfer-Encoding: chunked') =>
  `POST /file HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${more}\r\n\r\n`;
const until = async (isSo: () => boolean) => {
  for (let turns = 0; turns < 100_000 && !isSo(); turns++) await turn();
  expect(isSo()).toBe(true);
};

async function open(upload = uploads()) {
  const clock = createFakeClock();
  const { port, url } = await openServer([upload.route, echo, health], undefined, undefined, clock);
  const sender = connect(port, '127.0.0.1').setNoDelay(true);
  sender.on('error', () => undefined);
  const answer = text(sender).catch(() => 'reset');
  return { ...upload, clock, url, sender, answer };
}

describe('streamed request body', () => {
  test('may take longer than other bodies while data arrives', async () => {
    const { sender, clock, length, answer } = await open();
    sender.write(head());
    for (let part = 1; part <= 20; part++) {
      sender.write('4\r\nabcd\r\n');
      await until(() => length() === part * 4);
      clock.advance(29_000);
    }
    sender.write('0\r\n\r\n');
    expect(await answer).toMatch(/^HTTP\/1\.1 200[\s\S]*\r\n\r\n80$/);
  });

  test('answers 408 when no data arrives for too long', async () => {
    const { sender, clock, begun, ended, answer } = await open();
    sender.write(head());
    await begun;
    await turn();
    clock.advance(30_000);
    expect(await ended).toMatchObject({ status: 408 });
    clock.advance(12_000);
    expect(await answer).toMatch(/^HTTP\/1\.1 408/);
  });

  test('waits for a slow reader, whose time does not count as idle', async () => {
    const gate = Promise.withResolvers<void>();
    const { sender, clock, length, answer } = await open(uploads(8 * mib, () => gate.promise));
    sender.write(`${head('Content-Length: 4')}abcd`);
    await until(() => length() === 4);
    clock.advance(10 * 60_000);
    gate.resolve();
    expect(await answer).toMatch(/^HTTP\/1\.1 200/);
  });

  test.each([
    ['declared', 'Content-Length: 11', 'x'.repeat(11)],
    ['not declared', 'Transfer-Encoding: chunked', '6\r\nabcdef\r\n5\r\nabcde\r\n0\r\n\r\n'],
  ])('is rejected over its limit, with its length %s', async (_what, header, body) => {
    const { sender, answer, ended } = await open(uploads(10));
    sender.write(head(header) + body);
    expect(await answer).toMatch(/^HTTP\/1\.1 413/);
    expect(await ended).toMatchObject({ code: 'too_large' });
  });

  test('fails when the client disconnects in the middle', async () => {
    const { sender, begun, ended } = await open();
    sender.write(`${head('Content-Length: 100')}abc`);
    await begun;
    sender.destroy();
    expect(await ended).toMatchObject({ status: 400 });
  });

  test('is cut off soon when it continues after its rejection', async () => {
    const { sender, clock, answer, ended } = await open(uploads(10));
    sender.write(head('Content-Length: 1000000'));
    await ended;
    await until(() => sender.bytesRead > 0);
    clock.advance(12_000);
    expect(await answer).toMatch(/^HTTP\/1\.1 413/);
  });

  test('is discarded when its reader stops early, and the connection serves the next request', async () => {
    const route: Route = {
      method: 'POST',
      path: '/file',
      streamsBody: { maxBytes: mib },
      async handle(exchange) {
        for await (const part of exchange.body) if (part.length > 0) break;
        sendJson(exchange, { status: 200, body: '"enough"' });
      },
    };
    const { port } = await openServer([route, health]);
    const sender = connect(port, '127.0.0.1');
    const answer = text(sender);
    const body = 'x'.repeat(300_000);
    sender.write(`POST /file HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    sender.write('GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    expect(await answer).toMatch(/"enough"HTTP\/1\.1 200/);
  });

  test('is also discarded when its reader waits for more at the time of the rejection', async () => {
    const read = Promise.withResolvers<void>();
    const left = Promise.withResolvers<void>();
    const route: Route = {
      method: 'POST',
      path: '/left',
      streamsBody: { maxBytes: mib },
      async handle({ body }) {
        const parts = body[Symbol.asyncIterator]();
        await parts.next();
        const waits = parts.next().then(() => parts.return?.());
        void waits.then(() => left.resolve());
        read.resolve();
        throw badRequest('The core does not take it.');
      },
    };
    const { port } = await openServer([route, echo, health]);
    const sender = connect(port, '127.0.0.1').setNoDelay(true);
    let answers = '';
    sender.on('data', (part: Buffer) => (answers += part.toString()));
    sender.write('POST /left HTTP/1.1\r\nHost: localhost\r\nContent-Length: 300006\r\n\r\nabc');
    await read.promise;
    await expect.poll(() => answers).toContain('400 Bad Request');
    sender.write('def');
    await left.promise;
    sender.write('x'.repeat(300_000));
    sender.write('GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    await expect.poll(() => answers).toContain('200 OK');
    sender.destroy();
  });

  test('longer than its declared length does not start a second request', async () => {
    const { sender, answer } = await open();
    sender.write(`${head('Content-Length: 4')}abcdPOST /echo HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    expect((await answer).match(/HTTP\/1\.1 /g)).toHaveLength(1);
  });

  test('of 200 MiB is not held in memory', async () => {
    const { url, length } = await open(uploads(256 * mib));
    const before = process.memoryUsage().rss;
    const part = new Uint8Array(mib);
    let left = 200;
    const body = new ReadableStream({ pull: (to) => (left-- > 0 ? to.enqueue(part) : to.close()) });
    const answer = await fetch(`${url}/file`, { method: 'POST', body, duplex: 'half' } as RequestInit);
    expect(await answer.json()).toBe(200 * mib);
    expect(length()).toBe(200 * mib);
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * mib);
  });
});

test('a body on any other route has two minutes, even if the route does not read it', async () => {
  const clock = createFakeClock();
  const { port } = await openServer([{ ...echo, handle: () => new Promise(() => undefined) }], undefined, undefined, clock);
  const sender = connect(port, '127.0.0.1');
  const answer = text(sender);
  sender.write('POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nabc');
  await until(() => clock.advance(5_000) ?? sender.bytesRead > 0);
  expect(await answer).toMatch(/^HTTP\/1\.1 408/);
});

test('the body of a route that does not stream is not readable as a stream', async () => {
  const { url, log } = await openServer([{ method: 'POST', path: '/file', handle: async ({ body }) => void (await text(body)) }]);
  expect((await fetch(`${url}/file`, { method: 'POST', body: 'abc' })).status).toBe(500);
  expect(log).toHaveBeenCalledWith(
    'error',
    expect.any(String),
    expect.objectContaining({ error: expect.stringContaining('streamsBody') }),
  );
});
