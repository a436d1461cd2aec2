import fc from 'fast-check';
import { expect, test } from 'vitest';
import { counted, duration, inUnits, roundedDuration } from './words.ts';

test('counted() uses the singular and the plural', () => {
  expect([0, 1, 2].map((count) => counted(count, 'turn'))).toEqual(['0 turns', '1 turn', '2 turns']);
  expect([1, 2].map((count) => counted(count, 'reply', 'replies'))).toEqual(['1 reply', '2 replies']);
});

test.each([
  [-5, '0 s'],
  [59_999, '59 s'],
  [60_000, '1 min'],
  [3_600_000, '1 h 0 min'],
  [26 * 3_600_000, '1 d 2 h'],
])('duration() writes %d ms as %s', (ms, words) => {
  expect(duration(ms)).toBe(words);
});

test.each([
  [0, '1 s'],
  [60_000, '60 s'],
  [90_000, '2 min'],
  [120 * 60_000, '2 h'],
])('roundedDuration() writes %d ms as %s', (ms, words) => {
  expect(roundedDuration(ms)).toBe(words);
});

test('roundedDuration() never rounds down', () => {
  const unit: Record<string, number> = { s: 1000, min: 60_000, h: 3_600_000 };
  fc.assert(
    fc.property(fc.nat(10 ** 9), (ms) => {
      const [count, name = ''] = roundedDuration(ms).split(' ');
      expect(Number(count) * (unit[name] ?? 0)).toBeGreaterThanOrEqual(ms);
    }),
  );
});

test('inUnits() uses the largest unit of which there is at least one', () => {
  expect([0, 1023, 1024, 3.4 * 2 ** 20, 5 * 2 ** 50].map(inUnits)).toEqual(['0 B', '1023 B', '1.0 KiB', '3.4 MiB', '5120.0 TiB']);
});
