import { expect, test } from 'vitest';
import { isWithin, systemClock } from './clock.ts';

test('isWithin() rejects times too far in the past or in the future', () => {
  expect([9001, 10_000, 10_999].map((at) => isWithin(at, 1000, 10_000))).toEqual([true, true, true]);
  expect([0, 9000, 11_000, 1e15].map((at) => isWithin(at, 1000, 10_000))).toEqual([false, false, false, false]);
});

test('elapsed() returns whole milliseconds, as timers need them', () => {
  expect(Number.isInteger(systemClock.elapsed())).toBe(true);
});
