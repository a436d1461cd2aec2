import { expect, onTestFinished, test } from 'vitest';
import type { Identity } from '@svc/contract/trust.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { noDenyRules } from './deny-rules.ts';
import { createModerationRules } from './moderation-rules.ts';

const guest = { principal_id: 'p1', trust_tier: 'GUEST' } as Identity;

test.each([
  ['a minute later', 0],
  ['a minute later, also when the clock is set back by hours', 3 * 3_600_000],
])('a flood ends %s', (_when, setBackMs) => {
  const clock = createFakeClock();
  const rules = createModerationRules({ maxChars: 100, floodPerMinute: 2 }, noDenyRules, clock);
  const broken = () => rules.broken('hi', guest);
  expect([broken(), broken(), broken()]).toEqual([null, null, 'flood']);
  clock.setBack(setBackMs);
  clock.advance(60_000);
  expect([broken(), broken(), broken()]).toEqual([null, null, 'flood']);
});

test('comparing long texts with the rules yields to the event loop', async () => {
  const busy = {
    isEmpty: false,
    *matches(text: string) {
      const until = performance.now() + 5;
      while (performance.now() < until);
      yield;
      return text === 'bad';
    },
  };
  let turns = 0;
  let timer = setImmediate(function count() {
    turns++;
    timer = setImmediate(count);
  });
  onTestFinished(() => clearImmediate(timer));
  const rules = createModerationRules({ maxChars: 100, floodPerMinute: 2 }, busy, createFakeClock());
  expect(await rules.denied(['good', 'bad', 'good'])).toEqual([false, true, false]);
  expect(turns).toBeGreaterThanOrEqual(2);
});
