import { expect, test } from 'vitest';
import { randomIds, timeOfId } from './ids.ts';

test('an id contains the time of its creation', () => {
  const before = Date.now();
  const time = timeOfId(randomIds.next('evt'));
  expect(time).toBeGreaterThanOrEqual(before);
  expect(time).toBeLessThanOrEqual(Date.now());
});

test.each(['', 'evt_', 'evt_zzzzzzzzz0123456789', 'event-7', '12', 'evt_01k9000000123456789x'])('%j contains no time', (id) => {
  expect(timeOfId(id)).toBeNull();
});
