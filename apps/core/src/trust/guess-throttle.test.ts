import { expect, test } from 'vitest';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { createGuessThrottle } from './guess-throttle.ts';

test.each([
  ['a minute later', 0],
  ['a minute later, also when the clock is set back by hours', 3 * 3_600_000],
])('ten wrong codes block further ones, and codes are checked again %s', (_when, setBackMs) => {
  const clock = createFakeClock();
  const throttle = createGuessThrottle(clock);
  for (let n = 0; n < 10; n++) {
    throttle.check();
    throttle.wrong();
  }
  expect(() => throttle.check()).toThrow('Try again in 60 s');
  clock.setBack(setBackMs);
  clock.advance(60_000);
  expect(() => throttle.check()).not.toThrow();
});
