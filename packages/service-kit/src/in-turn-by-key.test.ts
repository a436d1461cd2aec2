import { expect, test } from 'vitest';
import { createInTurnByKey } from './in-turn-by-key.ts';

test('runs the works of a key in order, also after a failure, without delaying other keys', async () => {
  const inTurn = createInTurnByKey();
  const done: string[] = [];
  const first = Promise.withResolvers<void>();
  const works = [
    inTurn('a', () => first.promise),
    inTurn('a', () => Promise.resolve(done.push('a2'))),
    inTurn('b', () => Promise.resolve(done.push('b1'))),
  ];
  await works[2];
  expect(done).toEqual(['b1']);
  first.reject(new Error('broken'));
  await Promise.allSettled(works);
  expect(done).toEqual(['b1', 'a2']);
});

test('rejects works over the limits of a key and of all until there is room', async () => {
  const inTurn = createInTurnByKey({ ofKey: 2, all: 3, what: 'changes' });
  const hold = Promise.withResolvers<void>();
  const work = () => hold.promise;
  const running = [inTurn('a', work), inTurn('a', work), inTurn('b', work)];
  for (const key of ['a', 'b', 'c']) await expect(inTurn(key, work)).rejects.toMatchObject({ code: 'queue_full' });
  hold.resolve();
  await Promise.all(running);
  await inTurn('a', work);
});
