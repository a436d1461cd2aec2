import { isProofFresh } from '@svc/contract/auth.ts';
import { expect, test } from 'vitest';

test('a second factor is fresh for ten minutes, and not when it is dated more than a minute ahead', () => {
  const minutes = (count: number) => count * 60_000;
  const fresh = [-60, -2, -1, 0, 10, 11].map((ago) => isProofFresh(minutes(100 - ago), minutes(100)));
  expect(fresh).toEqual([false, false, true, true, true, false]);
});
