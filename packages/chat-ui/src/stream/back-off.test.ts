import { expect, test } from 'vitest';
import { createBackOff } from './back-off.ts';

test('waits twice as long each time, up to half a minute, and begins again when there is something new to hope for', () => {
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
