import { expect, test } from 'vitest';
import { isWithin, systemClock } from './clock.ts';

test('a time of day that lies far ahead is from a wrong clock, and nothing waits for it', () => {
  expect([9001, 10_000, 10_999].map((at) => isWithin(at, 1000, 10_000))).toEqual([true, true, true]);
  expect([0, 9000, 11_000, 1e15].map((at) => isWithin(at, 1000, 10_000))).toEqual([false, false, false, false]);
});

test('what only goes forward is in whole milliseconds, as timers take them', () => {
  expect(Number.isInteger(systemClock.elapsed())).toBe(true);
});
