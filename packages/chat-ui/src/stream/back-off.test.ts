import { expect, test } from 'vitest';
import { createBackOff } from './back-off.ts';

test('doubles the wait up to 30 seconds, and starts over after a reset', () => {
  const backOff = createBackOff();
  const isWithin = (most: number) => {
    const ms = backOff.next();
    expect(ms).toBeGreaterThanOrEqual(most / 2);
    expect(ms).toBeLessThanOrEqual(most);
  };
  for (const most of [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]) isWithin(most);
  backOff.reset();
  isWithin(1000);
});
