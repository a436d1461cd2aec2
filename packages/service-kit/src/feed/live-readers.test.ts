import { expect, test } from 'vitest';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import type { SseStream } from '../http/sse-stream.ts';
import { createLiveReaders } from './live-readers.ts';

function open() {
  const clock = createFakeClock();
  const live = createLiveReaders<string>((text) => text, clock);
  const read = () => {
    const buffers: Buffer[] = [];
    const gone = new AbortController();
    const stream: SseStream = {
      send: () => undefined,
      sendShared: (frames) => buffers.push(frames),
      drained: () => Promise.resolve(true),
      close: () => undefined,
      signal: gone.signal,
    };
    live.add(stream);
    return { buffers, gone, texts: () => buffers.map((frames) => frames.toString().split('')) };
  };
  return { clock, read, emit: (text: string) => live.publish(text) };
}

test('[H14] all readers share one buffer', async () => {
  const { read, emit } = open();
  const [one, other] = [read(), read()];
  emit('a');
  await Promise.resolve();
  expect(one.texts()).toEqual([['a']]);
  expect(other.buffers[0]).toBe(one.buffers[0]);
});

test('sends an event at once, and joins those of the next ten milliseconds', async () => {
  const { clock, read, emit } = open();
  const reader = read();
  emit('a');
  await Promise.resolve();
  emit('b');
  await Promise.resolve();
  emit('c');
  expect(reader.texts()).toEqual([['a']]);
  clock.advance(10);
  expect(reader.texts()).toEqual([['a'], ['b', 'c']]);
  clock.advance(10);
  emit('d');
  await Promise.resolve();
  expect(reader.texts()).toEqual([['a'], ['b', 'c'], ['d']]);
});

test('a reader gets no events from before it joined or after it left', async () => {
  const { clock, read, emit } = open();
  const first = read();
  emit('a');
  const second = read();
  emit('b');
  clock.advance(10);
  expect(first.texts()).toEqual([['a'], ['b']]);
  expect(second.texts()).toEqual([['b']]);
  first.gone.abort();
  emit('c');
  second.gone.abort();
  clock.advance(10);
  expect([first.texts(), second.texts()]).toEqual([[['a'], ['b']], [['b']]]);
});
