import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { describe, expect, test } from 'vitest';
import { retryWithin, type RetryOptions, type Attempt } from './retry.ts';

const fault = (retryAfterMs?: number): Attempt<string> => ({ ok: false, again: true, error: new Error('fault'), retryAfterMs });
const refused: Attempt<string> = { ok: false, again: false, error: new Error('no') };
const fine: Attempt<string> = { ok: true, value: 'fine' };

/** Runs the script of attempts, advancing the clock as needed; returns the time of each attempt. */
async function run(script: Attempt<string>[], options: Partial<RetryOptions> = {}) {
  const clock = createFakeClock();
  const from = clock.now();
  const at: number[] = [];
  let result: Attempt<string> | null = null;
  const running = retryWithin({ clock, limitMs: 10_000, random: () => 0, ...options }, async () => {
    at.push(clock.now() - from);
    return script.shift() ?? fine;
  }).then((tried) => (result = tried));
  while (result === null) {
    await new Promise<void>((resolve) => setImmediate(resolve));
    if (result === null) clock.advance(50);
  }
  return { tried: await running, at };
}

describe('retryWithin()', () => {
  test('doubles the pause when the platform names none', async () => {
    expect(await run([fault(), fault(), fault()])).toEqual({ tried: fine, at: [0, 250, 750, 1750] });
  });

  test('uses the pause that the platform names instead of its own', async () => {
    expect((await run([fault(3000), fault(100)])).at).toEqual([0, 3000, 3100]);
  });

  test('stops after a permanent failure and after the last try', async () => {
    expect(await run([refused])).toEqual({ tried: refused, at: [0] });
    expect((await run([fault(), fault(), fault()], { maxTries: 2 })).at).toHaveLength(2);
  });

  test('does not begin a pause that would end too late', async () => {
    const { tried, at } = await run([fault(10_000)]);
    expect([tried, at]).toEqual([fault(10_000), [0]]);
  });

  test('stops at once when aborted', async () => {
    const { at } = await run([fault(5000)], { signal: AbortSignal.abort() });
    expect(at).toEqual([0]);
  });

  test('passes the remaining time to an attempt', async () => {
    const clock = createFakeClock();
    let left = 0;
    await retryWithin({ clock, limitMs: 700 }, async (leftMs) => {
      left = leftMs;
      return fine;
    });
    expect(left).toBe(700);
  });
});
