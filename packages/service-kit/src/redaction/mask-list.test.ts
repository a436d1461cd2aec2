import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MaskList } from './mask-list.ts';

test('joins overlapping masks, but not adjacent ones, in any order', () => {
  const masks = new MaskList();
  for (const [from, to] of [[10, 20], [20, 25], [2, 4], [15, 18], [3, 11]] as const) masks.add(from, to); // prettier-ignore
  expect(masks.takeUntil(100)).toEqual([
    { from: 2, to: 20 },
    { from: 20, to: 25 },
  ]);
});

test('takes only masks that end before the position', () => {
  const masks = new MaskList();
  masks.add(1, 5);
  masks.add(7, 9);
  expect([masks.takeUntil(5), masks.from, masks.isEmpty]).toEqual([[{ from: 1, to: 5 }], 7, false]);
});

test('covers exactly the added places', () => {
  const places = fc.array(fc.tuple(fc.nat(40), fc.integer({ min: 1, max: 9 })), { maxLength: 12 });
  const property = fc.property(places, (added) => {
    const masks = new MaskList();
    const wanted = new Set<number>();
    for (const [from, length] of added) {
      masks.add(from, from + length);
      for (let at = from; at < from + length; at++) wanted.add(at);
    }
    const found = masks.takeUntil(100).flatMap(({ from, to }) => Array.from({ length: to - from }, (_, i) => from + i));
    expect(found).toEqual([...wanted].toSorted((a, b) => a - b));
  });
  fc.assert(property);
});
