import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { expect, test } from 'vitest';
import { createBatches } from './batches.ts';

/** Batches whose looks are answered by the test. */
function open() {
  const clock = createFakeClock();
  const looks: { key: string; items: string[]; left: number; answer(text: string): void; fail(error: Error): void }[] = [];
  const batches = createBatches<string, string>({
    clock,
    gatherMs: 3_000,
    maxItems: 3,
    look: (key, items, left) =>
      new Promise((resolve, reject) => void looks.push({ key, items, left, answer: resolve, fail: reject })),
  });
  /** Resolves after everything that is due. */
  const settled = () => new Promise((resolve) => void setImmediate(resolve));
  const here = new AbortController().signal;
  return { clock, looks, batches, settled, here };
}

test('joins items of three seconds into one question, answered to the first caller', async () => {
  const { clock, looks, batches, settled, here } = open();
  const first = batches.add('d', ['a'], here);
  clock.advance(2_999);
  const second = batches.add('d', ['b'], here);
  const other = batches.add('e', ['x'], here);
  clock.advance(1);
  await settled();
  expect(looks).toMatchObject([{ key: 'd', items: ['a', 'b'], left: 0 }]);
  clock.advance(3_000);
  await settled();
  for (const look of looks) look.answer(look.key);
  expect(await Promise.all([first, second, other])).toEqual(['d', null, 'e']);
});

test('answers a caller that still waits, and asks nothing if none does', async () => {
  const { clock, looks, batches, settled, here } = open();
  const left = AbortSignal.abort();
  const gone = batches.add('d', ['a'], left);
  const waits = batches.add('d', ['b'], here);
  const alone = batches.add('e', ['x'], left);
  clock.advance(3_000);
  await settled();
  expect(looks.map(({ key }) => key)).toEqual(['d']);
  looks[0]?.answer('said');
  expect(await Promise.all([gone, waits, alone])).toEqual([null, 'said', null]);
});

test('truncates a batch that is too large, and reports the number of items left out', async () => {
  const { clock, looks, batches, settled, here } = open();
  void batches.add('d', ['1', '2'], here);
  void batches.add('d', ['3', '4', '5'], here);
  void batches.add('d', ['6'], here);
  clock.advance(3_000);
  await settled();
  expect(looks).toMatchObject([{ items: ['1', '2', '3'], left: 3 }]);
});

test('keeps one open question per key, and batches items that arrive meanwhile', async () => {
  const { clock, looks, batches, settled, here } = open();
  const first = batches.add('d', ['a'], here);
  clock.advance(3_000);
  await settled();
  const second = batches.add('d', ['b'], here);
  clock.advance(3_000);
  await settled();
  const third = batches.add('d', ['c'], here);
  clock.advance(3_000);
  await settled();
  expect(looks).toHaveLength(1);
  looks[0]?.answer('one');
  await settled();
  expect(looks).toMatchObject([{ items: ['a'] }, { items: ['b', 'c'] }]);
  looks[1]?.answer('two');
  expect(await Promise.all([first, second, third])).toEqual(['one', 'two', null]);
});

test('a failed question rejects for all its callers, and the next batch is asked', async () => {
  const { clock, looks, batches, settled, here } = open();
  const both = [batches.add('d', ['a'], here), batches.add('d', ['b'], here)];
  clock.advance(3_000);
  await settled();
  looks[0]?.fail(new Error('away'));
  expect(await Promise.allSettled(both)).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
  const again = batches.add('d', ['c'], here);
  clock.advance(3_000);
  await settled();
  looks[1]?.answer('back');
  expect(await again).toBe('back');
});
