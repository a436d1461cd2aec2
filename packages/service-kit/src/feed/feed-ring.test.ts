import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createFeedRing, type RingLimits } from './feed-ring.ts';

const ringOf = (limits: RingLimits) => createFeedRing<{ id: string; line: string }>(limits, ({ line }) => line.length);
function fill(count: number, limits: RingLimits = { items: 5, chars: 1000 }, line = '{}') {
  const ring = ringOf(limits);
  for (let n = 1; n <= count; n++) ring.push({ id: `e${n}`, line });
  return ring;
}
const idsOf = (items: { id: string }[]) => items.map(({ id }) => id);

test('an empty ring returns nothing', () => {
  const ring = fill(0);
  expect([ring.first(), ring.end(), ring.placeAfter('e1'), ring.read(0, 100).items]).toEqual([0, 0, null, []]);
});

describe('ring over its limits', () => {
  test('drops the oldest events', () => {
    const ring = fill(12);
    expect(idsOf(ring.read(ring.first(), 1000).items)).toEqual(['e8', 'e9', 'e10', 'e11', 'e12']);
  });

  test('drops the oldest events over the limit of text, and all before one that is too long', () => {
    expect(idsOf(fill(5, { items: 5, chars: 10 }, '1234').read(3, 1000).items)).toEqual(['e4', 'e5']);
    const ring = fill(1, { items: 5, chars: 10 }, 'x'.repeat(11));
    expect([ring.first(), ring.end()]).toEqual([1, 1]);
  });

  test('reports a position whose event was dropped', () => {
    const ring = fill(12);
    expect(ring.placeAfter('e7')).toBeNull();
    expect(ring.placeAfter('e8')).toBe(8);
    expect([6, 7, 12].map((place) => ring.read(place, 1000).isBroken)).toEqual([true, false, false]);
  });
});

test('a reader gets every event once and in order, or learns that some were dropped', () => {
  const steps = fc.array(
    fc.oneof(fc.record({ push: fc.integer({ min: 1, max: 8 }) }), fc.record({ read: fc.integer({ min: 1, max: 12 }) })),
  );
  const rule = fc.property(steps, (list) => {
    const ring = ringOf({ items: 7, chars: 20 });
    let pushed = 0;
    let place = 0;
    let expected = 1;
    for (const step of list) {
      if ('push' in step) {
        for (let n = 0; n < step.push; n++) ring.push({ id: `e${++pushed}`, line: 'x'.repeat(1 + (pushed % 4)) });
        continue;
      }
      const { items, next, isBroken } = ring.read(place, step.read);
      const ids = idsOf(items).map((id) => Number(id.slice(1)));
      if (!isBroken) expect(ids[0] ?? expected).toBe(expected);
      expect(ids).toEqual(ids.map((_, index) => (ids[0] ?? 0) + index));
      expect(next).toBe(ids.at(-1) ?? place);
      if (ids.length > 0) expect(ring.placeAfter(`e${ids.at(-1)}`)).toBe(next);
      else expect(place).toBe(pushed);
      place = next;
      expected = next + 1;
    }
    expect(ring.end() - ring.first()).toBeLessThanOrEqual(7);
  });
  fc.assert(rule, { numRuns: 500 });
});
