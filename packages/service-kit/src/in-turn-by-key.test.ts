import { expect, test } from 'vitest';
import { createInTurnByKey } from './in-turn-by-key.ts';

test('works of one key follow each other, also behind one that failed; others do not wait', async () => {
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

test('a flood of works is refused, of one key and of all, until there is room again', async () => {
  const inTurn = createInTurnByKey({ ofKey: 2, all: 3, what: 'changes' });
  const hold = Promise.withResolvers<void>();
  const work = () => hold.promise;
  const running = [inTurn('a', work), inTurn('a', work), inTurn('b', work)];
  for (const key of ['a', 'b', 'c']) await expect(inTurn(key, work)).rejects.toMatchObject({ code: 'queue_full' });
  hold.resolve();
  await Promise.all(running);
  await inTurn('a', work);
});
