import { expect, test } from 'vitest';
import { waitMs } from './passphrase-tries.ts';

test.each([
  [0, 0],
  [1, 1000],
  [2, 2000],
  [3, 4000],
  [6, 32_000],
  [7, 60_000],
  [11, 60_000],
  [2000, 60_000],
])('V02: after %i consecutive wrong passphrases the next attempt waits %i ms', (failures, wait) => {
  expect(waitMs(failures, 5000, 5000)).toBe(wait);
});

test('the wait elapses, and a clock that is set back does not extend it', () => {
  expect([3000, 4999, 5000, 6000, 1, 0].map((now) => waitMs(2, 3000, now))).toEqual([2000, 1, 0, 0, 2000, 2000]);
});
