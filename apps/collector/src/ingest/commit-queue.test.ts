import { expect, test } from 'vitest';
import { CommitQueue } from './commit-queue.ts';

function openQueue(pause: () => Promise<void> | null = () => null) {
  const commits: number[] = [];
  const queue = new CommitQueue({
    write: (events) => commits.push(events.length),
    pause,
    defaults: () => ({ now: 1_000, nextId: () => 'id' }),
    log: { error: () => undefined },
  });
  return { queue, commits };
}
const events = (count: number) => Array.from({ length: count }, () => ({ kind: 'x' }));

test('a commit takes a limited number of events, and waiting requests share it', async () => {
  const { queue, commits } = openQueue();
  await Promise.all([queue.submit(events(900)), queue.submit(events(30))]);
  expect(commits).toEqual([230, 400, 300]);
});

test('a commit waits while the database log is checkpointed', async () => {
  const moved = Promise.withResolvers<void>();
  const pauses: (Promise<void> | null)[] = [moved.promise, null];
  const { queue, commits } = openQueue(() => pauses.shift() ?? null);
  const answers = [queue.submit(events(1)), queue.submit(events(2))];
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  expect(commits).toEqual([]);
  moved.resolve();
  expect(await Promise.all(answers)).toEqual([
    { ingested: 1, rejected: [] },
    { ingested: 2, rejected: [] },
  ]);
  expect(commits).toEqual([3]);
});

test('rejects events with 429 and a retry time when too many wait', async () => {
  const moved = Promise.withResolvers<void>();
  const { queue } = openQueue(() => moved.promise);
  const waiting = queue.submit(events(500_000));
  waiting.catch(() => undefined);
  await expect(queue.submit(events(1))).rejects.toMatchObject({ status: 429, details: { retry_after_s: 1 } });
  expect(queue.waiting).toBe(500_000);
});

test('rejects a body with more events than can ever wait', async () => {
  const { queue } = openQueue();
  await expect(queue.submit(Array.from({ length: 500_001 }, () => 1))).rejects.toMatchObject({ status: 413 });
  expect(queue.waiting).toBe(0);
  expect(queue.rejected).toBe(0);
});
