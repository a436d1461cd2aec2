import fc from 'fast-check';
import { expect, test } from 'vitest';
import { backOffMs, type BackOff } from './backoff.ts';

const policies: fc.Arbitrary<Required<BackOff>> = fc
  .record({
    firstMs: fc.integer({ min: 1, max: 10_000 }),
    above: fc.integer({ min: 0, max: 600_000 }),
    factor: fc.double({ min: 1, max: 10, noNaN: true }),
    least: fc.double({ min: 0, max: 1, noNaN: true }),
    spread: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  .map(({ firstMs, above, factor, least, spread }) => ({
    firstMs,
    maxMs: firstMs + above,
    factor,
    jitter: [least, least + spread] as const,
  }));
const failures = fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }));
const dice = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

test('doubles the pause from the first to the longest', () => {
  const pauses = [0, 1, 2, 3, 4, 5, 50].map((count) => backOffMs({ firstMs: 100, maxMs: 1000 }, count));
  expect(pauses).toEqual([0, 100, 200, 400, 800, 1000, 1000]);
});

test('a pause is a whole number within its bounds, for any count and random value', () => {
  fc.assert(
    fc.property(policies, failures, dice, (policy, count, die) => {
      const pause = backOffMs(policy, count, () => die);
      expect(Number.isSafeInteger(pause)).toBe(true);
      expect(pause).toBeGreaterThanOrEqual(Math.floor(policy.firstMs * policy.jitter[0]));
      expect(pause).toBeLessThanOrEqual(Math.ceil(policy.maxMs * policy.jitter[1]));
    }),
  );
});

test('a pause never decreases with another failure', () => {
  fc.assert(
    fc.property(policies, fc.integer({ min: 0, max: 2000 }), dice, (policy, count, die) => {
      expect(backOffMs(policy, count + 1, () => die)).toBeGreaterThanOrEqual(backOffMs(policy, count, () => die));
    }),
  );
});

test('there is no pause after a success', () => {
  fc.assert(fc.property(policies, dice, (policy, die) => backOffMs(policy, 0, () => die) === 0));
});
