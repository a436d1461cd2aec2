import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createOutboundMask, noMask, type MaskedJson } from '@svc/service-kit/redaction/outbound-mask.ts';
import { createEventRing, type RingLimits } from './event-ring.ts';

function fill(count: number, limits: RingLimits = { events: 5, chars: 1000 }, line = '{}') {
  const ring = createEventRing(noMask, limits);
  for (let n = 1; n <= count; n++) ring.push({ id: `e${n}`, kind: 'turn' }, line as MaskedJson);
  return ring;
}
const idsOf = (frames: string[]) => frames.map((frame) => /^id: (.*)$/m.exec(frame)?.[1]);

test('an event is a frame with its id, its kind and its line', () => {
  expect(fill(1).read(0, 100)).toEqual({ frames: ['id: e1\nevent: turn\ndata: {}\n\n'], lastId: 'e1', next: 1, isBroken: false });
});

test('an empty ring gives nothing', () => {
  const ring = fill(0);
  expect([ring.first(), ring.end(), ring.placeAfter('e1'), ring.read(0, 100).frames]).toEqual([0, 0, null, []]);
});

describe('past its bounds', () => {
  test('the oldest events go', () => {
    const ring = fill(12);
    expect(idsOf(ring.read(ring.first(), 1000).frames)).toEqual(['e8', 'e9', 'e10', 'e11', 'e12']);
  });

  test('of text, the oldest go too, and one that is too long leaves none', () => {
    expect(idsOf(fill(5, { events: 5, chars: 10 }, '1234').read(3, 1000).frames)).toEqual(['e4', 'e5']);
    const ring = fill(1, { events: 5, chars: 10 }, 'x'.repeat(11));
    expect([ring.first(), ring.end()]).toEqual([1, 1]);
  });

  test('a place that is gone is said to be', () => {
    const ring = fill(12);
    expect(ring.placeAfter('e7')).toBeNull();
    expect(ring.placeAfter('e8')).toBe(8);
    expect([6, 7, 12].map((place) => ring.read(place, 1000).isBroken)).toEqual([true, false, false]);
  });
});

test('a reader that takes pieces gets every event once, in order, or learns that some are gone', () => {
  const steps = fc.array(
    fc.oneof(fc.record({ push: fc.integer({ min: 1, max: 8 }) }), fc.record({ read: fc.integer({ min: 1, max: 12 }) })),
  );
  const rule = fc.property(steps, (list) => {
    const ring = createEventRing(noMask, { events: 7, chars: 20 });
    let pushed = 0;
    let place = 0;
    let expected = 1;
    for (const step of list) {
      if ('push' in step) {
        for (let n = 0; n < step.push; n++)
          ring.push({ id: `e${++pushed}`, kind: 'turn' }, 'x'.repeat(1 + (pushed % 4)) as MaskedJson);
        continue;
      }
      const { frames, next, isBroken, lastId } = ring.read(place, step.read);
      const ids = idsOf(frames).map((id) => Number(id?.slice(1)));
      if (!isBroken) expect(ids[0] ?? expected).toBe(expected);
      expect(ids).toEqual(ids.map((_, index) => (ids[0] ?? 0) + index));
      expect(next).toBe(ids.at(-1) ?? place);
      if (ids.length > 0) expect([lastId, ring.placeAfter(lastId ?? '')]).toEqual([`e${ids.at(-1)}`, next]);
      else expect(place).toBe(pushed);
      place = next;
      expected = next + 1;
    }
    expect(ring.end() - ring.first()).toBeLessThanOrEqual(7);
  });
  fc.assert(rule, { numRuns: 500 });
});

test('a secret that became known after an event was held is masked when the event is read again', () => {
  let secret = 'nothing';
  const ring = createEventRing(createOutboundMask((text) => text.replaceAll(secret, 'MASK')));
  ring.push({ id: 'e1', kind: 'turn' }, '{"text":"said before it was known"}' as MaskedJson);
  secret = 'before it was';
  expect(ring.read(0, 100).frames.join('')).toContain('{"text":"said MASK known"}');
});
