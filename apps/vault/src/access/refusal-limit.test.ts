import { expect, test } from 'vitest';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { createRefusalLimit, maxPerWindow, type RefusalSum } from './refusal-limit.ts';

function open() {
  const clock = createFakeClock();
  const sums: RefusalSum[] = [];
  return { clock, sums, limit: createRefusalLimit(clock, (sum) => sums.push(sum)) };
}

test('at most sixty rejections a minute are logged for each actor, and the rest is summed up', () => {
  const { clock, sums, limit } = open();
  const taken = Array.from({ length: 18_000 }, () => limit.takes('mallory')).filter(Boolean);
  expect(taken).toHaveLength(maxPerWindow);
  expect(limit.takes('assistant')).toBe(true);
  clock.advance(60_000);
  expect(sums).toEqual([{ actor: 'mallory', count: 18_000 - maxPerWindow }]);
  expect(limit.takes('mallory')).toBe(true);
});

test('pending counts are summed up when the vault closes', () => {
  const { clock, sums, limit } = open();
  for (let n = 0; n < maxPerWindow + 3; n++) limit.takes('mallory');
  limit.close();
  clock.advance(60_000);
  expect(sums).toEqual([{ actor: 'mallory', count: 3 }]);
});
