import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { expect, test } from 'vitest';
import { createIndexer } from './indexer.ts';

test('a failing index is reported and retried by itself', async () => {
  const clock = createFakeClock();
  let fails = true;
  const ask = () => (fails ? Promise.reject(new Error('disk full')) : Promise.resolve({ seq: 1, behind: false }));
  const db = { get: () => Promise.resolve(undefined), run: () => Promise.resolve(1) };
  const indexer = createIndexer({ db, thread: { ask: ask as never }, clock, log: { warn: () => undefined }, hasIndex: true });
  indexer.catchUp();
  await expect.poll(() => indexer.fault()).toBe('The search index cannot be updated: disk full');
  fails = false;
  clock.advance(60_000);
  await expect.poll(() => indexer.fault()).toBeNull();
  indexer.close();
});

test('a clock that is set back does not delay the index', async () => {
  const clock = createFakeClock();
  const asked: unknown[] = [];
  const ask = (question: unknown) => (asked.push(question), Promise.resolve({ seq: 1, behind: false }));
  const db = { get: () => Promise.resolve(undefined), run: () => Promise.resolve(1) };
  const indexer = createIndexer({ db, thread: { ask: ask as never }, clock, log: { warn: () => undefined }, hasIndex: true });
  indexer.stored(2000);
  clock.setBack(3_600_000);
  clock.advance(5000);
  expect(asked).toHaveLength(1);
  indexer.close();
});

test.each([
  [false, 1],
  [true, 0],
])('events are indexed again after the start only when there is no index: %j', async (hasIndex, times) => {
  const clock = createFakeClock();
  const asked: unknown[] = [];
  const ask = (question: unknown) => (asked.push(question), Promise.resolve({ seq: 5000, behind: false }));
  // After a restored backup the database still says what was indexed then.
  const get = (_sql: string, counts: number) => Promise.resolve({ behind: 5000 - counts * 5000 });
  const db = { get: get as never, run: () => Promise.resolve(1) };
  const indexer = createIndexer({ db, thread: { ask: ask as never }, clock, log: { warn: () => undefined }, hasIndex });
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(5000);
  expect(asked).toHaveLength(times);
  indexer.close();
});
