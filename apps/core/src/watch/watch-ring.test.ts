import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { MaskedJson } from '@svc/service-kit/redaction/outbound-mask.ts';
import { createWatchRing, type WatchRing } from './watch-ring.ts';

const put = (ring: WatchRing, turnId: string | null = 't', type = 'delta', json = 'x') =>
  ring.put({ seq: ring.takePlace(), turnId, type, json: json as MaskedJson });
const places = (ring: WatchRing, from: number) => ring.read(from, 1e6).frames.map(({ seq }) => seq);

test('reading resumes at any held place or the next one, and reports missed frames for any other', () => {
  const ring = createWatchRing(100, { frames: 3, chars: 1000 });
  for (let n = 0; n < 5; n++) put(ring);
  expect(places(ring, 102)).toEqual([102, 103, 104]);
  expect(places(ring, 105)).toEqual([]);
  for (const place of [101, 106, 0, -1, Number.NaN, Infinity, 2 ** 53])
    expect(ring.read(place, 1e6)).toEqual({ frames: [], next: 105, isBroken: true });
});

test('random puts, withdrawals and clears keep the limits and rising places, and leave no unnoticed gap', () => {
  const step = fc.oneof(
    fc.record({
      what: fc.constant('put'),
      turn: fc.constantFrom('a', 'b'),
      type: fc.constantFrom('delta', 'tool', 'end'),
      chars: fc.nat(40),
    }),
    fc.record({
      what: fc.constantFrom('withdraw', 'forget', 'clear'),
      turn: fc.constantFrom('a', 'b'),
      type: fc.constant(''),
      chars: fc.constant(0),
    }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: 'max' }), fc.nat(70), (steps, from) => {
      const ring = createWatchRing(10, { frames: 8, chars: 100 });
      const gone = new Set<number>();
      const made: { seq: number; turn: string; type: string }[] = [];
      for (const { what, turn, type, chars } of steps) {
        if (what === 'put') {
          made.push({ seq: ring.next(), turn, type });
          put(ring, turn, type, 'x'.repeat(chars));
        } else if (what === 'withdraw') {
          ring.withdraw(turn);
          for (const each of made) if (each.turn === turn && each.type === 'delta') gone.add(each.seq);
        } else if (what === 'forget') {
          ring.forget();
          for (const each of made) gone.add(each.seq);
        } else {
          ring.clear();
        }
        expect(ring.chars()).toBeLessThanOrEqual(100);
      }
      const part = ring.read(from, 1e6);
      const expected = made.filter(({ seq }) => seq >= from && !gone.has(seq)).map(({ seq }) => seq);
      if (!part.isBroken) expect(part.frames.map(({ seq }) => seq)).toEqual(expected);
      for (const { seq } of part.frames) expect(gone.has(seq)).toBe(false);
      expect(ring.read(ring.next(), 1).isBroken).toBe(false);
    }),
  );
});

test('a frame still being written when all is forgotten is dropped without a gap', () => {
  const ring = createWatchRing(1);
  const old = ring.takePlace();
  ring.forget();
  ring.put({ seq: old, turnId: 't', type: 'end', json: 'x' as MaskedJson });
  put(ring, null, 'forgotten');
  expect(places(ring, 1)).toEqual([2]);
});

test('a frame over the size limit is held alone', () => {
  const ring = createWatchRing(1, { frames: 8, chars: 10 });
  put(ring);
  put(ring, 't', 'segment', 'x'.repeat(100));
  expect(places(ring, 2)).toEqual([2]);
});
