import { expect, test } from 'vitest';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { createGuessThrottle } from './guess-throttle.ts';

test.each([
  ['a minute later', 60_000],
  ['when the clock is set back by hours', -3 * 3_600_000],
])('ten wrong codes are enough for a minute, and codes are looked at again %s', (_when, ms) => {
  const clock = createFakeClock();
  const throttle = createGuessThrottle(clock);
  for (let n = 0; n < 10; n++) {
    throttle.check();
    throttle.wrong();
  }
  expect(() => throttle.check()).toThrow('Try again in 60 s');
  clock.advance(ms);
  expect(() => throttle.check()).not.toThrow();
});
