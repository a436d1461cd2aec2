import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { systemClock } from '@svc/service-kit/clock.ts';
import { sendJson, type Exchange } from '../../src/http/exchange.ts';
import type { Route } from '../../src/http/route-table.ts';
import { createSseWriter, type SseWriter } from '../../src/http/sse-writer.ts';
import { health, openServer } from './open-server.ts';

describe('HTTP server that is stopped', () => {
  const slow = () => {
    let finish!: () => void;
    let exchange!: Exchange;
    const begun = Promise.withResolvers<void>();
    const route: Route = {
      method: 'GET',
      path: '/slow',
      handle(given) {
        exchange = given;
        begun.resolve();
        return new Promise<void>((resolve) => (finish = resolve)).then(() => sendJson(exchange, { status: 200, body: '"done"' }));
      },
    };
    return { route, begun: begun.promise, finish: () => finish() };
  };

  test('finishes a running request and accepts no new ones', async () => {
    const { route, begun, finish } = slow();
    const { server, url } = await openServer([route, health]);
    const running = fetch(`${url}/slow`);
    await begun;
    const stopped = server.stop(10_000);
    await expect(fetch(`${url}/health`)).rejects.toThrow();
    finish();
    const answer = await running;
    expect(answer.headers.get('connection')).toBe('close');
    await expect(answer.text()).resolves.toBe('"done"');
    await stopped;
  });

  test('closes the connection of an open stream once the stream ends', async () => {
    const opened = Promise.withResolvers<SseWriter>();
    const route: Route = {
      method: 'GET',
      path: '/stream',
      handle(exchange) {
        const writer = createSseWriter(exchange, systemClock);
        writer.send('data: 1\n\n');
        opened.resolve(writer);
      },
    };
    const { server, port } = await openServer([route]);
    const reader = connect(port, '127.0.0.1');
    const read = text(reader);
    reader.write('GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n');
    const writer = await opened.promise;
    const stopped = server.stop(60_000);
    writer.end();
    await stopped;
    expect(await read).toContain('data: 1');
  });

  test('waits for requests being answered, but not for unfinished ones', async () => {
    const { route, begun, finish } = slow();
    const half = Promise.withResolvers<void>();
    const asked: Route = {
      method: 'POST',
      path: '/asked',
      async handle({ req }) {
        req.once('data', () => half.resolve());
        await text(req);
      },
    };
    const { server, url, port } = await openServer([route, asked, health]);
    const running = fetch(`${url}/slow`);
    await begun;
    const beginnings = ['', 'GET /slow HTT', 'POST /asked HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nhalf'];
    const closed = beginnings.map(async (said) => {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined);
      socket.write(said);
      await new Promise((resolve) => socket.on('close', resolve).resume());
    });
    await half.promise;
    await (await fetch(`${url}/health`)).text();
    const [since, limit] = [performance.now(), 20_000];
    const stopped = server.stop(2 * limit);
    await Promise.all(closed);
    finish();
    expect(await (await running).text()).toBe('"done"');
    await stopped;
    expect(performance.now() - since).toBeLessThan(limit);
  });

  test('cuts off running requests at the deadline', async () => {
    const { route, begun } = slow();
    const { server, url } = await openServer([route]);
    const running = fetch(`${url}/slow`);
    await begun;
    const stopped = server.stop(50);
    await expect(running).rejects.toThrow();
    await stopped;
  });
});
