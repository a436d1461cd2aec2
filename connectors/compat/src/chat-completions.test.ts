import { expect, test } from 'vitest';
import { createSeenKeys } from './chat-completions.ts';

test('remembers a bounded number of recent conversations', () => {
  const seen = createSeenKeys(2);
  const known = () => ['a', 'b', 'c', 'd', 'e'].filter(seen.has).join('');
  const after = (key: string) => {
    seen.add(key);
    return known();
  };
  expect(['a', 'b', 'a', 'c', 'b', 'd', 'e'].map(after)).toEqual(['a', 'ab', 'ab', 'abc', 'abc', 'bcd', 'bcde']);
  expect(['a', 'b', 'b', 'c'].map(after)).toEqual(['ade', 'abde', 'abde', 'abc']);
});
