import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { Duplex } from 'node:stream';
import { setImmediate as nextTick } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import { expect, test, vi } from 'vitest';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { openSse } from '../src/http/sse.ts';
import { createUnreadReplies } from '../src/http/unread-replies.ts';

/** A stream over a connection that accepts bytes only when the test says so. */
async function open({ isGone = false } = {}) {
  const clock = createFakeClock();
  let taken: (() => void) | null = null;
  const received: Buffer[] = [];
  const socket = new Duplex({
    highWaterMark: 1024,
    read: () => undefined,
    write: (chunk: Buffer, _encoding, done) => {
      received.push(chunk);
      taken = done;
    },
  });
  const server = createServer();
  const response = new Promise<ServerResponse>((resolve) => server.on('request', (_request, answer) => resolve(answer)));
  server.emit('connection', socket);
  socket.push('GET / HTTP/1.1\r\nHost: test\r\n\r\n');
  const raw = await response;
  if (isGone) {
    socket.destroy();
    await once(raw, 'close');
  }
  const stream = openSse(
    {
      raw,
      hijack: () => undefined,
      request: { id: 'req_1' },
      server: { unread: createUnreadReplies() },
    } as unknown as FastifyReply,
    clock,
  );
  const takeAll = async () => {
    for (let done = taken; done !== null; done = taken) {
      taken = null;
      done();
      await nextTick();
    }
  };
  return { clock, raw, stream, takeAll, text: () => Buffer.concat(received).toString() };
}

test('drained() waits for a reader that is behind until it has caught up', async () => {
  const { stream, takeAll } = await open();
  await takeAll();
  stream.send('x'.repeat(100_000));
  let hasRoom: boolean | null = null;
  const drained = stream.drained(1000).then((room) => (hasRoom = room));
  await nextTick();
  expect(hasRoom).toBeNull();
  await takeAll();
  await drained;
  expect(hasRoom).toBe(true);
  expect(await stream.drained(1000)).toBe(true);
});

test('disconnects a reader that makes no room in time', async () => {
  const { stream, clock, raw } = await open();
  stream.send('x'.repeat(100_000));
  const drained = stream.drained(1000);
  clock.advance(999);
  expect(raw.destroyed).toBe(false);
  clock.advance(1);
  expect(await drained).toBe(false);
  expect([raw.destroyed, stream.signal.aborted]).toEqual([true, true]);
  expect(await stream.drained(1000)).toBe(false);
});

test('disconnects a reader that is more than 1 MiB behind', async () => {
  const { stream, raw } = await open();
  stream.send('x'.repeat(4 * 1024 * 1024));
  await nextTick();
  expect(raw.destroyed).toBe(false); // a single frame may be as long as a reply
  stream.send('x');
  expect(await stream.drained(1000)).toBe(false);
  expect(raw.destroyed).toBe(true);
});

test('sends shared frames to a slow reader in order, without a copy of them in its buffer', async () => {
  const { stream, raw, takeAll, text } = await open();
  await takeAll();
  const frames = Array.from({ length: 20 }, (_, n) => Buffer.from(`event: e${n}\ndata: ${'x'.repeat(20_000)}\n\n`));
  for (const frame of frames) stream.sendShared(frame);
  expect(raw.writableLength).toBeLessThan(100_000);
  await nextTick();
  await takeAll();
  expect([...text().matchAll(/event: e(\d+)/g)].map(([, n]) => Number(n))).toEqual(frames.map((_, n) => n));
});

test('disconnects a reader that is more than 1 MiB behind with shared frames', async () => {
  const { stream, raw } = await open();
  const frame = Buffer.alloc(100_000, 'x');
  for (let n = 0; n < 12; n++) stream.sendShared(frame);
  await nextTick();
  await nextTick();
  expect([raw.destroyed, stream.signal.aborted]).toEqual([true, true]);
});

test('a stream opened after its reader has left aborts in time for its listeners', async () => {
  const { stream } = await open({ isGone: true });
  const left = vi.fn();
  stream.signal.addEventListener('abort', left);
  stream.send('x');
  await nextTick();
  expect(left).toHaveBeenCalledOnce();
  expect(await stream.drained(1000)).toBe(false);
});
