import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { expect, test } from 'vitest';
import { createBatches } from './batches.ts';

/** Batches whose looks a test ends. */
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
  /** After what is due by now. */
  const settled = () => new Promise((resolve) => void setImmediate(resolve));
  const here = new AbortController().signal;
  return { clock, looks, batches, settled, here };
}

test('what comes within three seconds is one question, and the first who asked has its answer', async () => {
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

test('the answer goes to who still waits; where nobody does, nothing is asked', async () => {
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

test('a batch that is too large is cut, and says by how much', async () => {
  const { clock, looks, batches, settled, here } = open();
  void batches.add('d', ['1', '2'], here);
  void batches.add('d', ['3', '4', '5'], here);
  void batches.add('d', ['6'], here);
  clock.advance(3_000);
  await settled();
  expect(looks).toMatchObject([{ items: ['1', '2', '3'], left: 3 }]);
});

test('one question of a key is open at a time, and what comes meanwhile is the next one', async () => {
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

test('a question that fails fails for all who asked, and the next batch is asked again', async () => {
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
