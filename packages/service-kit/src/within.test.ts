import { expect, test } from 'vitest';
import { inTime, within } from './within.ts';

/** A clock with one timer, which fires when the test says so. */
function oneTimer() {
  let due = () => {};
  let isCancelled = false;
  return {
    after: (_ms: number, fn: () => void) => {
      due = fn;
      return () => void (isCancelled = true);
    },
    ring: () => due(),
    isCancelled: () => isCancelled,
  };
}

const never = new Promise<never>(() => undefined);
const tooLate = () => {
  throw new Error('too late');
};

test('work that ends in time returns its result and cancels the timer', async () => {
  const clock = oneTimer();
  expect(await inTime(Promise.resolve('done'), 10, tooLate, clock)).toBe('done');
  expect(clock.isCancelled()).toBe(true);
  await expect(inTime(Promise.reject(new Error('no')), 10, () => 'late', oneTimer())).rejects.toThrow('no');
  expect(await within(Promise.resolve(), 10, oneTimer())).toBe(true);
  expect(await within(Promise.resolve(), 60_000)).toBe(true);
});

test('work that takes too long is abandoned, and may still fail', async () => {
  const clock = oneTimer();
  const work = Promise.withResolvers<string>();
  const given = inTime(work.promise, 10, () => 'late', clock);
  clock.ring();
  expect(await given).toBe('late');
  work.reject(new Error('nobody listens'));
  await expect(inTime(never, 0, tooLate)).rejects.toThrow('too late');
  expect(await within(never, 0)).toBe(false);
});
