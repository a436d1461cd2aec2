import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { createLiveEdit } from './live-edit.ts';
import { retryWithin } from './retry.ts';
import { createThrottle } from './throttle.ts';

const hour = 3_600_000;

describe.each([
  ['back', 5 * hour],
  ['forward', -5 * hour],
])('with the clock set %s by hours', (_way, backMs) => {
  test('what fails is tried for as long as it should be', async () => {
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

  test('a message that is edited live is edited once a second', async () => {
    const clock = createFakeClock();
    const edits: string[] = [];
    const live = createLiveEdit({ clock, everyMs: 1000, edit: async (text) => void edits.push(text) });
    live.show('a');
    await nextTurn();
    clock.setBack(backMs);
    live.show('b');
    clock.advance(999);
    await nextTurn();
    expect(edits).toEqual(['a']);
    clock.advance(1);
    await nextTurn();
    expect(edits).toEqual(['a', 'b']);
  });

  test('bad keys are counted for their minute', () => {
    const clock = createFakeClock();
    const throttle = createThrottle(clock, { perAddress: 1 });
    throttle.attempt('a');
    clock.setBack(backMs);
    expect(throttle.attempt('a')).toBe(60);
    clock.advance(60_000);
    expect(throttle.attempt('a')).toBe(0);
  });
});
