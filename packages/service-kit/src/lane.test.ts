import { expect, test } from 'vitest';
import { createLane } from './lane.ts';

test('runs at most the given number of works, and the others in order, also after a failure', async () => {
  const run = createLane(2);
  const begun: string[] = [];
  const works = ['a', 'b', 'c', 'd'].map((name) => ({ name, end: Promise.withResolvers<string>() }));
  const ended = works.map(({ name, end }) => run(() => (begun.push(name), end.promise)));
  const [a, b, c, d] = works;
  expect(begun).toEqual(['a', 'b']);
  b?.end.reject(new Error('no'));
  await expect(ended[1]).rejects.toThrow('no');
  expect(begun).toEqual(['a', 'b', 'c']);
  a?.end.resolve('a');
  await ended[0];
  expect(begun).toEqual(['a', 'b', 'c', 'd']);
  c?.end.resolve('c');
  d?.end.resolve('d');
  expect(await Promise.all(ended.slice(2))).toEqual(['c', 'd']);
  expect(await run(() => Promise.resolve('e'))).toBe('e');
});

test('rejects works over the limit, and accepts them again after one has ended', async () => {
  const run = createLane(1, { most: 2, full: 'Too many wait.' });
  const end = Promise.withResolvers<void>();
  const first = run(() => end.promise);
  const second = run(() => Promise.resolve('second'));
  await expect(run(() => Promise.resolve())).rejects.toThrow('Too many wait.');
  end.resolve();
  await first;
  expect(await second).toBe('second');
  expect(await run(() => Promise.resolve('later'))).toBe('later');
});
