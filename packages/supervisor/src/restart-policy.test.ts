import fc from 'fast-check';
import { expect, test } from 'vitest';
import { crashLimit } from './child-spec.ts';
import { createRestartPolicy, stableMs } from './restart-policy.ts';

const exits = fc.array(
  fc.record({ ranMs: fc.integer({ min: 0, max: 2 * stableMs }), code: fc.constantFrom(null, 0, 1, 69, 78) }),
  { minLength: 1, maxLength: 100 },
);

test('restarts after any exit within 60 s when there is no limit', () => {
  fc.assert(
    fc.property(exits, fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (all, die) => {
      const policy = createRestartPolicy(
        () => null,
        () => die,
      );
      let at = 0;
      for (const { ranMs, code } of all) {
        at += ranMs;
        const verdict = policy.judge({ at, ranMs, code });
        expect(verdict.again).toBe(true);
        const delayMs = verdict.again ? verdict.delayMs : Infinity;
        expect(delayMs).toBeLessThanOrEqual(60_000);
        if (ranMs >= stableMs) expect(delayMs).toBe(0);
        else expect(delayMs).toBeGreaterThanOrEqual(80);
      }
    }),
  );
});

test('restarts within seconds after the sixth kill in a row', () => {
  const policy = createRestartPolicy(
    () => null,
    () => 0.999,
  );
  const delays = Array.from({ length: 6 }, (_, i) => policy.judge({ at: i * 500, ranMs: 500, code: null }));
  expect(delays.at(-1)).toMatchObject({ again: true, failures: 6 });
  expect(delays.every((verdict) => verdict.again && verdict.delayMs < 4000)).toBe(true);
});

test('gives up exactly when there are more exits than the limit within its period', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 40_000 }), { maxLength: 60 }), (gaps) => {
      const policy = createRestartPolicy(
        () => crashLimit,
        () => 0.5,
      );
      const times: number[] = [];
      let at = 0;
      for (const gap of gaps) {
        at += gap;
        times.push(at);
        const within = times.filter((time) => at - time < crashLimit.periodMs).length;
        expect(policy.judge({ at, ranMs: gap, code: 1 }).again).toBe(within <= crashLimit.exits);
      }
    }),
  );
});

test('does not count exits from before the limit was set', () => {
  let limit: typeof crashLimit | null = null;
  const policy = createRestartPolicy(
    () => limit,
    () => 0.5,
  );
  for (let i = 0; i < 20; i++) policy.judge({ at: i, ranMs: 0, code: 1 });
  limit = crashLimit;
  expect(policy.judge({ at: 21, ranMs: 0, code: 1 }).again).toBe(true);
});
