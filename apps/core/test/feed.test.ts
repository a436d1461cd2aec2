import net from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { randomIds } from '@svc/service-kit/ids.ts';
import { workedMs } from '@svc/testing/worked-ms.ts';
import { envelope, openTestCore, type TestCore } from './open-test-core.ts';
import { readEvents } from './read-events.ts';

let core: TestCore;
let url: string;
const readers: { close(): unknown }[] = [];
beforeEach(async () => {
  core = await openTestCore();
  url = await core.app.listen({ host: '127.0.0.1', port: 0 });
});
afterEach(async () => {
  for (const reader of readers.splice(0)) reader.close();
  core.context.feeds.closeAll();
  await core.close();
});

const emit = (text: string) => core.telemetry.emit({ kind: 'turn', text }).id;
const emitMany = (count: number, text = 'x') => Array.from({ length: count }, () => emit(text));
const connections = () =>
  new Promise<number>((resolve, reject) =>
    core.app.server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
  );

async function read(lastEventId?: string) {
  const reader = await readEvents(url, lastEventId);
  readers.push(reader);
  return reader;
}

describe('a reader', () => {
  test('gets events from the time it connects', async () => {
    emitMany(3);
    const reader = await read();
    const id = emit('now');
    await expect.poll(reader.ids).toEqual([id]);
    expect(reader.events[0]).toMatchObject({ event: 'turn', data: expect.stringContaining('"text":"now"') as string });
  });

  test('gets a turn as the events recorded for it', async () => {
    const reader = await read();
    await core.handle(envelope('hello'));
    await expect.poll(() => reader.events.map(({ event }) => event)).toEqual(['inbound', 'token-usage', 'outbound']);
    expect(reader.events.map(({ data }) => JSON.parse(data) as unknown)).toEqual(core.telemetry.events);
  });

  test('resumes after the last event it has seen', async () => {
    const ids = emitMany(10);
    const reader = await read(ids[6]);
    const next = emit('live');
    await expect.poll(reader.ids).toEqual([...ids.slice(7), next]);
    expect(reader.events.map(({ event }) => event)).not.toContain('gap');
  });

  test('gets no event twice when it missed none', async () => {
    const ids = emitMany(3);
    const reader = await read(ids[2]);
    const next = emit('live');
    await expect.poll(reader.ids).toEqual([next]);
  });

  test('gets a long backlog and live events in order, each once', async () => {
    const past = emitMany(2000, 'x'.repeat(700));
    const reader = await read(past[0]);
    const live: string[] = [];
    while (reader.events.length < 1900) {
      if (live.length < 500) live.push(emit('live'));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await expect.poll(() => reader.ids().at(-1)).toBe(live.at(-1));
    expect(reader.ids()).toEqual([...past.slice(1), ...live]);
  });
});

describe('a reader whose last event is no longer held', () => {
  test.each([
    ['an id of another core', 'event-4711'],
    ['no id at all', '\u00e9 {"a": 1}'],
    ['an id without end', 'x'.repeat(8000)],
  ])('(%s) gets a gap event first, then all events held', async (_name, lastId) => {
    const ids = emitMany(3);
    const reader = await read(lastId);
    const next = emit('live');
    await expect.poll(() => reader.events.length).toBe(5);
    const [gap, ...rest] = reader.events;
    expect([gap?.event, gap?.id]).toEqual(['gap', '']);
    expect(JSON.parse(gap?.data ?? '')).toMatchObject({
      since: null,
      message: expect.stringContaining('GET /api/events?since=') as string,
    });
    expect(rest.map(({ id }) => id)).toEqual([...ids, next]);
  });

  test('gets the time of the gap when its id contains one', async () => {
    const before = Date.now();
    const reader = await read(randomIds.next('evt'));
    await expect.poll(() => reader.events.length).toBe(1);
    const { since, message } = JSON.parse(reader.events[0]?.data ?? '') as { since: number; message: string };
    expect(since).toBeGreaterThanOrEqual(before);
    expect(message).toContain(`GET /api/events?since=${since}`);
  });

  test('gets a gap when its event is older than the newest 2,000', async () => {
    const ids = emitMany(2101);
    const reader = await read(ids[99]);
    await expect.poll(() => reader.events.length).toBe(2001);
    expect(reader.events[0]?.event).toBe('gap');
    expect(reader.ids().slice(1)).toEqual(ids.slice(101));
  });

  test('gets a gap when the texts since then exceed the memory limit', async () => {
    const ids = emitMany(20, 'x'.repeat(200_000));
    const reader = await read(ids[0]);
    await expect.poll(() => reader.ids().at(-1)).toBe(ids.at(-1));
    expect(reader.events[0]?.event).toBe('gap');
    expect(reader.events.length).toBeLessThan(12);
  });
});

test('an empty Last-Event-ID is ignored', async () => {
  emitMany(2);
  const reader = await read('');
  const id = emit('now');
  await expect.poll(reader.ids).toEqual([id]);
});

test('[H14] a reader that never reads is dropped, and others get every event promptly', async () => {
  const reader = await read();
  const idle = await connections();
  const deaf = net.connect(Number(new URL(url).port), '127.0.0.1');
  deaf.on('error', () => undefined);
  deaf.write('GET /events/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
  await new Promise((resolve) => deaf.once('data', resolve)); // the response head: the stream is open
  deaf.pause();
  expect(await connections()).toBe(idle + 1);
  let longest = 0;
  for (let n = 0; n < 100; n++) {
    const since = workedMs();
    const last = emitMany(100, 'x'.repeat(1000)).at(-1);
    while (reader.events.at(-1)?.id !== last) await new Promise((resolve) => setImmediate(resolve));
    longest = Math.max(longest, workedMs() - since);
  }
  expect(reader.events).toHaveLength(10_000);
  expect(longest).toBeLessThan(500);
  await expect.poll(connections).toBe(idle);
  deaf.destroy();
});

test.each(['\n\ndata: forged\n\n', '\r\rid: 9\r\rdata: forged', 'a\0b', '\u2028event: gap\u2028'])(
  '[H15] the text %j is sent as one event',
  async (text) => {
    const reader = await read();
    const id = emit(text);
    const end = emit('end');
    await expect.poll(reader.ids).toEqual([id, end]);
    expect((JSON.parse(reader.events[0]?.data ?? '') as { text: string }).text).toBe(text);
  },
);
