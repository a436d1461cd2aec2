import { expect, test } from 'vitest';
import { createSeenKeys } from './seen-keys.ts';

test('remembers the most recent conversations, a bounded number of them', () => {
  const seen = createSeenKeys(2);
  seen.add('a');
  seen.add('b');
  seen.add('a');
  seen.add('c');
  expect(['a', 'b', 'c'].map((key) => seen.has(key))).toEqual([true, false, true]);
});
