import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ShortLivedMap } from './short-lived-map.ts';

const key = fc.constantFrom('a', 'b', 'c', '__proto__');
const step = fc.oneof(
  fc.record({ what: fc.constant('set' as const), key, value: fc.integer() }),
  fc.record({ what: fc.constant('delete' as const), key }),
);

test('behaves like a Map', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const map = new Map<string, number>();
      const shortLived = new ShortLivedMap<string, number>();
      for (const one of steps) {
        if (one.what === 'delete') expect(shortLived.delete(one.key)).toBe(map.delete(one.key));
        else {
          map.set(one.key, one.value);
          shortLived.set(one.key, one.value);
        }
        expect(shortLived.size).toBe(map.size);
        expect([...shortLived.values()]).toEqual([...map.values()]);
        expect(shortLived.get(one.key)).toBe(map.get(one.key));
      }
    }),
  );
});

test('allows deletion and insertion during iteration', () => {
  const map = new ShortLivedMap<string, number>();
  for (const [name, value] of [
    ['a', 1],
    ['b', 2],
    ['c', 3],
  ] as const)
    map.set(name, value);
  const read: number[] = [];
  for (const value of map.values()) {
    read.push(value);
    map.delete('b');
    if (value === 1) map.set('d', 4);
  }
  expect(read).toEqual([1, 3, 4]);
});
