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
])('V02: after %i wrong passphrases in a row the next is tried %i ms later', (failures, wait) => {
  expect(waitMs(failures, 5000, 5000)).toBe(wait);
});

test('the wait goes by, and a clock that was set back does not make it longer', () => {
  expect([3000, 4999, 5000, 6000, 1, 0].map((now) => waitMs(2, 3000, now))).toEqual([2000, 1, 0, 0, 2000, 2000]);
});
