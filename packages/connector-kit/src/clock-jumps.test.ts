import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { retryWithin } from './retry.ts';
import { createThrottle } from './throttle.ts';

const hour = 3_600_000;

describe.each([
  ['back', 5 * hour],
  ['forward', -5 * hour],
])('with the clock set %s by hours', (_way, backMs) => {
  test('retries for the intended time', async () => {
    const clock = createFakeClock();
    const lefts: number[] = [];
    const running = retryWithin({ clock, limitMs: 1000, random: () => 0 }, async (leftMs) => {
      if (lefts.push(leftMs) === 1) clock.setBack(backMs);
      return { ok: false, again: true, error: new Error('away') };
    });
    for (let n = 0; n < 30; n++) {
      await nextTurn();
      clock.advance(50);
    }
    await running;
    expect(lefts).toEqual([1000, 750, 250]);
  });

  test('counts bad keys for their minute', () => {
    const clock = createFakeClock();
    const throttle = createThrottle(clock, { perAddress: 1 });
    throttle.attempt('a');
    clock.setBack(backMs);
    expect(throttle.attempt('a')).toBe(60);
    clock.advance(60_000);
    expect(throttle.attempt('a')).toBe(0);
  });
});
