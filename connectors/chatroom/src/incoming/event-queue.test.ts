import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { expect, test } from 'vitest';
import { createEventQueue } from './event-queue.ts';

const { signal } = new AbortController();

function open(max = 10) {
  const passed: string[] = [];
  let rooms = 0;
  const queue = createEventQueue<string>({
    clock: createFakeClock(),
    max,
    onPassed: (event) => void passed.push(event),
    onRoom: () => void rooms++,
  });
  return { queue, passed, rooms: () => rooms };
}

test('returns events until they are passed, and reports passed ones in order', async () => {
  const { queue, passed } = open();
  for (const event of ['a', 'b', 'c']) queue.push(event);
  expect((await queue.poll(null, 0, signal)).map(({ event }) => event)).toEqual(['a', 'b', 'c']);
  expect(await queue.poll(null, 0, signal)).toHaveLength(3);
  expect((await queue.poll(2, 0, signal)).map(({ event }) => event)).toEqual(['c']);
  expect(passed).toEqual(['a', 'b']);
});

test('a waiting poll gets the next event', async () => {
  const { queue } = open();
  const polled = queue.poll(null, 25_000, signal);
  queue.push('late');
  expect((await polled).map(({ event }) => event)).toEqual(['late']);
});

test('drops events while it is full, until half of them have been passed', async () => {
  const { queue, rooms } = open(4);
  const taken = ['a', 'b', 'c', 'd', 'e'].map((event) => queue.push(event));
  expect(taken).toEqual([true, true, true, true, false]);
  await queue.poll(1, 0, signal);
  expect(queue.push('f')).toBe(false); // it would come before the dropped event
  await queue.poll(3, 0, signal);
  expect(rooms()).toBe(1);
  expect(queue.push('g')).toBe(true);
});
