import fc from 'fast-check';
import path from 'node:path';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';
import { createFileState } from '../state/file-state.ts';
import { followUpdates, type Cursor, type FollowOptions } from './follow-updates.ts';

/** A platform that keeps its updates until they are passed, and a follower of it on a clock of its own. */
function openFeed(updates: number[], options: Partial<FollowOptions<number>> = {}) {
  const clock = createFakeClock();
  const stopping = new AbortController();
  const [polls, problems, taken]: [(Cursor | null)[], (string | null)[], number[]] = [[], [], []];
  const feed = {
    polls,
    problems,
    taken,
    fault: null as Error | null,
    take: async (_update: number): Promise<void> => undefined,
    /** Lets time pass until it is so. */
    async until(isSo: () => boolean): Promise<void> {
      for (let n = 0; !isSo(); n++) {
        if (n > 100_000)
          throw new Error(`not so after ${clock.elapsed()} ms: ${JSON.stringify({ polls: polls.slice(-3), taken, problems })}`);
        clock.advance(100);
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    async stop() {
      stopping.abort();
      await followed;
    },
    clock,
  };
  const followed = followUpdates<number>({
    clock,
    signal: stopping.signal,
    log: () => undefined,
    cursorOf: (update) => update,
    onProblem: (problem) => problems.push(problem),
    async poll(after) {
      polls.push(after);
      if (feed.fault !== null) throw feed.fault;
      return updates.filter((update) => update > Number(after ?? 0));
    },
    take(update) {
      taken.push(update);
      return feed.take(update);
    },
    ...options,
  });
  onTestFinished(() => feed.stop());
  return feed;
}

test('an update is passed when it and all before it are safe, whatever is safe behind it', async () => {
  const first = Promise.withResolvers<void>();
  const feed = openFeed([1, 2, 3]);
  feed.take = async (update) => (update === 1 ? first.promise : undefined);
  await feed.until(() => feed.polls.length > 3);
  expect(new Set(feed.polls)).toEqual(new Set([null]));
  first.resolve();
  await feed.until(() => feed.polls.at(-1) === 3);
  expect(feed.taken).toEqual([1, 2, 3]);
});

test('polls go on while updates are open: what one of them waits for may come with the next', async () => {
  const updates = [1];
  const second = Promise.withResolvers<void>();
  const feed = openFeed(updates);
  feed.take = async (update) => (update === 1 ? second.promise : second.resolve());
  await feed.until(() => feed.polls.length > 1);
  updates.push(2);
  await feed.until(() => feed.polls.at(-1) === 2);
});

test('while updates are open for long, polls become fewer', async () => {
  const feed = openFeed([1]);
  feed.take = () => new Promise(() => undefined);
  await feed.until(() => feed.clock.elapsed() > 60_000);
  expect(feed.polls.length).toBeLessThan(45);
});

test('one that could not be taken is taken again, with all that came after it', async () => {
  const feed = openFeed([1, 2, 3]);
  let isBusy = true;
  feed.take = async (update) => {
    if (update === 2 && isBusy) throw new Error('the core is away');
  };
  await feed.until(() => feed.taken.filter((update) => update === 2).length > 2);
  expect([feed.polls.at(-1), feed.taken.slice(0, 6), feed.problems[0]]).toEqual([
    1,
    [1, 2, 3, 2, 3, 2],
    expect.stringContaining('could not be processed yet'),
  ]);
  isBusy = false;
  await feed.until(() => feed.polls.at(-1) === 3);
  expect([feed.problems.at(-1), feed.taken.filter((update) => update === 1)]).toEqual([null, [1]]);
});

test('what comes while one is lost waits until that one is taken again', async () => {
  const updates = [1];
  const lost = Promise.withResolvers<void>();
  const feed = openFeed(updates, {
    async poll(after) {
      feed.polls.push(after);
      if (feed.polls.length === 2) {
        updates.push(2);
        lost.reject(new Error('the core is away'));
      }
      return updates.filter((update) => update > Number(after ?? 0));
    },
  });
  feed.take = async (update) => (update === 1 && feed.taken.length === 1 ? lost.promise : undefined);
  await feed.until(() => feed.polls.at(-1) === 2);
  expect(feed.taken).toEqual([1, 1, 2]);
});

test('a platform that fails or hangs is asked ever more slowly, and it is said until it is there again', async () => {
  const feed = openFeed([1]);
  feed.fault = new Error('no route');
  await feed.until(() => feed.clock.elapsed() > 120_000);
  expect([feed.polls.length < 20, new Set(feed.problems)]).toEqual([true, new Set(['no route'])]);
  feed.fault = null;
  await feed.until(() => feed.problems.at(-1) === null);
  expect(feed.taken).toEqual([1]);
  const hanging = openFeed([1], { poll: () => new Promise(() => undefined) });
  await hanging.until(() => hanging.problems.length > 1);
  expect(hanging.problems[0]).toContain('was cancelled after 40 s');
  await hanging.stop(); // at once, whatever the poll does
});

test('after a fault the platform is asked without a wait first, so that it is known soon that it is there again', async () => {
  const waits: number[] = [];
  const feed = openFeed([], {
    async poll(_after, waitMs) {
      waits.push(waitMs);
      if (waits.length < 3) throw new Error('another poll');
      if (waitMs > 0) await new Promise(() => undefined);
      return [];
    },
  });
  await feed.until(() => feed.problems.at(-1) === null);
  await feed.until(() => waits.length > 3);
  expect(waits).toEqual([25_000, 0, 0, 25_000]);
});

test('one that gives nothing and does not wait is asked once a second, or as often as was said', async () => {
  const [fast, slow] = [openFeed([]), openFeed([], { everyMs: 60_000 })];
  for (const [feed, most] of [
    [fast, 70],
    [slow, 2],
  ] as const) {
    await feed.until(() => feed.clock.elapsed() > 60_000);
    expect(feed.polls.length).toBeLessThanOrEqual(most);
  }
});

test('the last one that was passed is kept where the platform does not know it', async () => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const state = () => createFileState(path.join(folder.path, 'state.jsonl'), () => undefined);
  const first = openFeed([1, 2], { state: state() });
  await first.until(() => first.polls.at(-1) === 2);
  await first.stop();
  const next = openFeed([1, 2, 3], { state: state() });
  await next.until(() => next.polls.at(-1) === 3);
  expect([next.polls[0], next.taken]).toEqual([2, [3]]);
});

test('whatever fails and however long it takes, nothing is passed before it is safe, and all is taken', async () => {
  const outcomes = fc.array(fc.record({ failures: fc.nat(2), ms: fc.nat(3000) }), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(outcomes, async (plan) => {
      const updates = plan.map((_, n) => n + 1);
      const safe = new Set<number>();
      const feed = openFeed(updates);
      const left = plan.map(({ failures }) => failures);
      feed.take = (update) =>
        new Promise((resolve, reject) => {
          feed.clock.after(plan[update - 1]?.ms ?? 0, () => {
            if ((left[update - 1] ?? 0) > 0) return reject(new Error(`not yet, ${left[update - 1]!--}`));
            safe.add(update);
            resolve();
          });
        });
      const wrong = () => feed.polls.some((after) => updates.some((update) => update <= Number(after ?? 0) && !safe.has(update)));
      await feed.until(() => wrong() || feed.polls.at(-1) === updates.length);
      expect(wrong()).toBe(false);
      await feed.stop();
    }),
    { numRuns: 40 },
  );
});
