import { expect, test } from 'vitest';
import { isProven } from './logins.ts';

test('a second factor counts for ten minutes, and not when a clock that was ahead says when it was shown', () => {
  const minutes = (count: number) => count * 60_000;
  const proven = [-60, -10, 0, 10, 11].map((ago) => isProven({ provenAt: minutes(100 - ago) }, minutes(100)));
  expect(proven).toEqual([false, true, true, true, false]);
});
