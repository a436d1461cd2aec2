import { expect, test } from 'vitest';
import { forgetOldest } from './forget-oldest.ts';

test('forgetOldest() deletes the first entries over the limit', () => {
  const map = new Map([1, 2, 3, 4].map((key) => [key, key]));
  const set = new Set(['a', 'b']);
  forgetOldest(map, 2);
  forgetOldest(set, 2);
  expect([[...map.keys()], [...set]]).toEqual([
    [3, 4],
    ['a', 'b'],
  ]);
});

test('forgetOldest() visits only the entries that it deletes', () => {
  const map = new Map([1, 2, 3, 4].map((key) => [key, key]));
  let looked = 0;
  const counted = {
    get size() {
      return map.size;
    },
    delete: (key: number) => map.delete(key),
    *keys() {
      for (const key of map.keys()) {
        looked++;
        yield key;
      }
    },
  };
  forgetOldest(counted, 3);
  expect([looked, map.size]).toEqual([2, 3]);
});
