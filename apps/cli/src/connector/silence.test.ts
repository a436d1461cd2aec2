import { expect, test } from 'vitest';
import { silence } from './silence.ts';

test.each([
  ['stale', 1000, 'has been silent for 2 min'],
  ['unknown', null, 'has not reported yet'],
  ['fresh', 1000, 'the reason is unknown'],
] as const)('explains an instance whose heartbeat is %s', (heartbeat, last_heartbeat_at, words) => {
  expect(silence({ heartbeat, last_heartbeat_at }, 125_000)).toBe(words);
});
