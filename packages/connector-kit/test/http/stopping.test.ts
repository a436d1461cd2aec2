import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { systemClock } from '@svc/service-kit/clock.ts';
import { sendJson, type Exchange } from '../../src/http/exchange.ts';
import type { Route } from '../../src/http/route-table.ts';
import { createSseWriter, type SseWriter } from '../../src/http/sse-writer.ts';
import { health, openServer } from './open-server.ts';

describe('an HTTP server that is stopped', () => {
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

  test('lets a running request finish and takes no new ones', async () => {
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

  test('ends the connection of a stream that had begun, as soon as the stream is over', async () => {
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

  test('waits for who waits for an answer, and not for who has begun to ask and says nothing more', async () => {
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

  test('cuts off what is still running at the deadline', async () => {
    const { route, begun } = slow();
    const { server, url } = await openServer([route]);
    const running = fetch(`${url}/slow`);
    await begun;
    const stopped = server.stop(50);
    await expect(running).rejects.toThrow();
    await stopped;
  });
});
