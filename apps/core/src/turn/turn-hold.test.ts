import { expect, test } from 'vitest';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { createTurnHold } from './turn-hold.ts';
import { createTurnQueue } from './turn-queue.ts';

test('turns are held, not rejected, until the hold is no longer renewed', async () => {
  const clock = createFakeClock();
  const queue = createTurnQueue({ slots: 2, maxWaiting: 10 }, clock);
  const hold = createTurnHold(queue, clock);
  const begun: string[] = [];
  const run = (key: string) =>
    queue.enter(key).run(
      async () => void begun.push(key),
      () => undefined,
    );
  hold.holdFor(1000);
  const waiting = [run('a'), run('b')];
  clock.advance(900);
  hold.holdFor(1000);
  clock.advance(900);
  expect([begun, queue.counts()]).toEqual([[], { running: 0, waiting: 2 }]);
  clock.advance(100);
  await Promise.all(waiting);
  expect(begun).toEqual(['a', 'b']);
  await run('c');
  expect(begun).toEqual(['a', 'b', 'c']);
});
