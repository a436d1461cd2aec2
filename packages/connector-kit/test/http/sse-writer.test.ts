import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { systemClock } from '@svc/service-kit/clock.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import type { Exchange } from '../../src/http/exchange.ts';
import type { Route } from '../../src/http/route-table.ts';
import { createSseWriter, type SseWriter } from '../../src/http/sse-writer.ts';
import { openServer } from './open-server.ts';

describe('SSE stream', () => {
  const stream = (use: (writer: SseWriter, exchange: Exchange) => void, clock = systemClock): Route => ({
    method: 'GET',
    path: '/stream',
    handle: (exchange) => use(createSseWriter(exchange, clock), exchange),
  });

  test('sends its frames in order and ends', async () => {
    const { url } = await openServer([
      stream((writer) => {
        writer.send('data: 1\n\n');
        writer.send('data: 2\n\n');
        queueMicrotask(() => {
          writer.send('data: 3\n\n');
          writer.end();
        });
      }),
    ]);
    const answer = await fetch(`${url}/stream`);
    expect(answer.headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect(await answer.text()).toBe('data: 1\n\ndata: 2\n\ndata: 3\n\n');
  });

  test('writes the frames of one tick in one write', async () => {
    const writes: string[] = [];
    const { url } = await openServer([
      stream((writer, { res }) => {
        const write = res.write.bind(res);
        res.write = (text: string) => (writes.push(text), write(text));
        for (let i = 0; i < 10; i++) writer.send(`data: ${i}\n\n`);
        setImmediate(() => writer.end());
      }),
    ]);
    await (await fetch(`${url}/stream`)).text();
    expect(writes).toHaveLength(1);
  });

  test('starts with a comment after 15 idle seconds, and sends none while it has data', async () => {
    const clock = createFakeClock();
    const opened = Promise.withResolvers<SseWriter>();
    const { url } = await openServer([stream((writer) => opened.resolve(writer), clock)]);
    const answer = fetch(`${url}/stream`);
    const writer = await opened.promise;
    clock.advance(14_999);
    expect(writer.isOpen()).toBe(false);
    clock.advance(1);
    expect(writer.isOpen()).toBe(true);
    clock.advance(5_000);
    writer.send('data: 1\n\n');
    clock.advance(10_000);
    writer.end();
    await expect((await answer).text()).resolves.toBe(': keep-alive\n\ndata: 1\n\n');
  });

  test('leaves no timer behind for a reader that has gone before it', async () => {
    const timers = new Set<object>();
    const clock = {
      ...systemClock,
      every: () => {
        const timer = {};
        timers.add(timer);
        return () => timers.delete(timer);
      },
    };
    const [asked, done] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { port } = await openServer([
      {
        method: 'GET',
        path: '/stream',
        async handle(exchange) {
          asked.resolve();
          await once(exchange.res, 'close');
          createSseWriter(exchange, clock);
          done.resolve();
        },
      },
    ]);
    const reader = connect(port, '127.0.0.1');
    reader.write('GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await asked.promise;
    reader.destroy();
    await done.promise;
    expect(timers.size).toBe(0);
  });

  test('disconnects a client that does not read, but not during a single huge frame', async () => {
    const done = Promise.withResolvers<boolean>();
    const frame = `data: ${'x'.repeat(256 * 1024)}\n\n`;
    const { port, url } = await openServer([
      stream((writer, { res }) => {
        res.on('close', () => done.resolve(res.writableFinished));
        const more = () => {
          if (res.destroyed) return;
          writer.send(frame);
          setImmediate(more);
        };
        more();
      }),
      {
        method: 'GET',
        path: '/huge',
        handle: (exchange) => {
          const writer = createSseWriter(exchange, systemClock);
          writer.send('x'.repeat(8 * 1024 * 1024));
          setImmediate(() => writer.end());
        },
      },
    ]);
    const stalled = connect(port, '127.0.0.1');
    stalled.pause();
    stalled.write('GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await expect(done.promise).resolves.toBe(false);
    stalled.destroy();
    expect((await (await fetch(`${url}/huge`)).text()).length).toBe(8 * 1024 * 1024);
  });
});
