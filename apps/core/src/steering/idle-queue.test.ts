import { beforeEach, expect, test } from 'vitest';
import { createFakeClock, type FakeClock } from '@svc/testing/fake-clock.ts';
import { createIdleQueue, type IdleQueue } from './idle-queue.ts';

let clock: FakeClock;
let ran: string[];
let isBusy: boolean;
let queue: IdleQueue<string>;
let ends: (() => void)[];
let signals: AbortSignal[];

beforeEach(() => {
  clock = createFakeClock();
  ran = [];
  ends = [];
  signals = [];
  isBusy = false;
  queue = createIdleQueue<string>({
    clock,
    delayMs: 100,
    longestMs: 10_000,
    max: 3,
    isBusy: () => isBusy,
    run(item, signal) {
      ran.push(item);
      signals.push(signal);
      return new Promise<void>((resolve) => ends.push(resolve));
    },
  });
});

const settle = () => new Promise((resolve) => setImmediate(resolve));
async function pass(ms: number): Promise<void> {
  clock.advance(ms);
  await settle();
}
async function endOne(): Promise<void> {
  ends.shift()?.();
  await settle();
  await pass(0);
}

test('items run one at a time after their delay, in order of arrival', async () => {
  queue.add('a', 'a');
  await pass(99);
  expect(ran).toEqual([]);
  queue.add('b', 'b');
  await pass(1);
  expect(ran).toEqual(['a']);
  await pass(5000);
  expect(ran).toEqual(['a']);
  await endOne();
  expect(ran).toEqual(['a', 'b']);
  await endOne();
  expect(queue.has('b')).toBe(false);
});

test('nothing runs during more urgent work, and items that wait too long are dropped', async () => {
  isBusy = true;
  queue.add('a', 'a');
  await pass(5000);
  expect(ran).toEqual([]);
  queue.add('b', 'b');
  await pass(5200);
  expect(queue.has('a')).toBe(false);
  isBusy = false;
  await pass(1000);
  expect(ran).toEqual(['b']);
});

test('the oldest item is dropped at the limit', async () => {
  for (const name of ['a', 'b', 'c', 'd', 'e']) queue.add(name, name);
  await pass(100);
  for (let n = 0; n < 5; n++) await endOne();
  expect(ran).toEqual(['c', 'd', 'e']);
});

test('remove() drops a waiting item and aborts a running one', async () => {
  queue.add('a', 'a');
  queue.add('b', 'b');
  queue.remove('b');
  await pass(100);
  queue.remove('a');
  expect(signals[0]?.aborted).toBe(true);
  await endOne();
  expect(ran).toEqual(['a']);
});

test('close() drops waiting items, aborts the running one and accepts no more', async () => {
  queue.add('a', 'a');
  await pass(100);
  queue.add('b', 'b');
  const closed = queue.close();
  expect(signals[0]?.aborted).toBe(true);
  ends.shift()?.();
  await closed;
  queue.add('c', 'c');
  await pass(10_000);
  expect(ran).toEqual(['a']);
});
