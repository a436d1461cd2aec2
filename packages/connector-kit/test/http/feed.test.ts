import { connect } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createFeed } from '../../src/http/feed.ts';
import { openServer, raw } from './open-server.ts';

async function open(ring = { items: 100, chars: 100_000 }, maxReaders?: number) {
  const feed = createFeed({ ring, maxReaders });
  const { port, server } = await openServer([{ method: 'GET', path: '/feed', handle: feed.serve }]);
  /** A connected reader with the text it has received. */
  const read = async (lastId?: string) => {
    const before = feed.readers;
    const socket = connect(port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    let text = '';
    const ended = new Promise<void>((resolve) => socket.on('close', () => resolve()));
    socket.on('error', () => undefined).on('data', (part) => (text += part.toString()));
    socket.write(`GET /feed HTTP/1.1\r\nHost: localhost\r\n${lastId === undefined ? '' : `Last-Event-ID: ${lastId}\r\n`}\r\n`);
    await expect.poll(() => feed.readers).toBe(before + 1);
    return {
      socket,
      ended,
      text: () => text,
      events: () => [...text.matchAll(/^event: ([^\n]*)\ndata: ([^\n]*)\n/gm)].map(([, event, data]) => `${event} ${data}`),
    };
  };
  return { feed, read, port, server };
}

describe('feed of a connector', () => {
  test('sends each reader the events from its connection on', async () => {
    const { feed, read } = await open();
    feed.publish('said', 'before');
    const readers = [await read(), await read()];
    feed.publish('said', { text: 'a\n\nevent: forged\r\ndata: b\u2028' });
    feed.publish('done', undefined);
    for (const reader of readers)
      await expect
        .poll(reader.events)
        .toEqual([`said ${JSON.stringify({ text: 'a\n\nevent: forged\r\ndata: b\u2028' })}`, 'done null']);
  });

  test('resumes after the event that a reader names', async () => {
    const { feed, read } = await open();
    const ids = [1, 2, 3].map((n) => feed.publish('n', n));
    const reader = await read(ids[0]);
    feed.publish('n', 4);
    await expect.poll(reader.events).toEqual(['n 2', 'n 3', 'n 4']);
    expect(reader.text()).toContain(`id: ${ids[1]}\n`);
  });

  test.each([
    ['is held no more', (ids: string[]) => ids[0]!],
    ['is of another process', () => 'feed_0123-1'],
    ['is no id', () => 'x'.repeat(5000)],
  ])('reports a gap when the event that a reader names %s', async (_what, nameOf) => {
    const { feed, read } = await open({ items: 2, chars: 1000 });
    const ids = [1, 2, 3, 4].map((n) => feed.publish('n', n));
    const reader = await read(nameOf(ids));
    await expect.poll(reader.events).toEqual(['gap {}', 'n 3', 'n 4']);
  });

  test('keeps no more characters than its limit', async () => {
    const { feed, read } = await open({ items: 1000, chars: 1000 });
    const [first] = Array.from({ length: 50 }, (_, n) => feed.publish('n', `${n}${'x'.repeat(200)}`));
    const reader = await read(first);
    await expect.poll(() => reader.events().length).toBeGreaterThan(2);
    expect(reader.text().length).toBeLessThan(2000);
  });

  test('disconnects a reader that does not read, and no other', async () => {
    const { feed, read } = await open();
    const slow = await read();
    slow.socket.pause();
    const other = await read();
    let sent = 0;
    const piece = 'x'.repeat(64 * 1024);
    await expect
      .poll(
        () => {
          feed.publish('n', piece);
          sent++;
          return feed.readers;
        },
        { interval: 1, timeout: 20_000 },
      )
      .toBe(1);
    await expect.poll(() => other.events().length).toBe(sent);
  });

  test('rejects readers over its limit, and frees the place of a reader that leaves', async () => {
    const { feed, read, port } = await open(undefined, 1);
    const reader = await read();
    expect(await raw(port, 'GET /feed HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')).toMatch(/^HTTP\/1\.1 429/);
    reader.socket.destroy();
    await expect.poll(() => feed.readers).toBe(0);
    await read();
  });

  test('answers a HEAD request at once', async () => {
    const { feed, port } = await open();
    expect(await raw(port, 'HEAD /feed HTTP/1.1\r\nHost: localhost\r\n\r\n')).toMatch(/^HTTP\/1\.1 200/);
    expect(feed.readers).toBe(0);
  });

  test('ends when the server stops', async () => {
    const { read, server } = await open();
    const reader = await read();
    await server.stop(60_000);
    await reader.ended;
  });

  test('rejects an event name with a line break', async () => {
    const { feed } = await open();
    expect(() => feed.publish('a\ndata: b', 1)).toThrow(TypeError);
  });
});
