import fc from 'fast-check';
import path from 'node:path';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';
import { createFileState } from '../state/file-state.ts';
import { followUpdates, type Cursor, type FollowOptions } from './follow-updates.ts';

/** A platform that keeps updates until they are acknowledged, and a follower of it with a fake clock. */
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
    /** Advances the clock until the condition holds. */
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

test('acknowledges an update only when it and all before it are safe', async () => {
  const first = Promise.withResolvers<void>();
  const feed = openFeed([1, 2, 3]);
  feed.take = async (update) => (update === 1 ? first.promise : undefined);
  await feed.until(() => feed.polls.length > 3);
  expect(new Set(feed.polls)).toEqual(new Set([null]));
  first.resolve();
  await feed.until(() => feed.polls.at(-1) === 3);
  expect(feed.taken).toEqual([1, 2, 3]);
});

test('keeps polling while updates are open, since one of them may depend on the next', async () => {
  const updates = [1];
  const second = Promise.withResolvers<void>();
  const feed = openFeed(updates);
  feed.take = async (update) => (update === 1 ? second.promise : second.resolve());
  await feed.until(() => feed.polls.length > 1);
  updates.push(2);
  await feed.until(() => feed.polls.at(-1) === 2);
});

test('polls less often while updates stay open for long', async () => {
  const feed = openFeed([1]);
  feed.take = () => new Promise(() => undefined);
  await feed.until(() => feed.clock.elapsed() > 60_000);
  expect(feed.polls.length).toBeLessThan(45);
});

test('retries a failed update together with all after it', async () => {
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

test('an update that arrives while an earlier one fails waits for the retry of that one', async () => {
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

test('backs off when the platform fails or hangs, and reports the problem until it recovers', async () => {
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
  await hanging.stop(); // at once, even during a poll
});

test('polls without waiting after a fault, so that recovery is noticed soon', async () => {
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

test('polls a platform that returns nothing without waiting once a second, or at the configured interval', async () => {
  const [fast, slow] = [openFeed([]), openFeed([], { everyMs: 60_000 })];
  for (const [feed, most] of [
    [fast, 70],
    [slow, 2],
  ] as const) {
    await feed.until(() => feed.clock.elapsed() > 60_000);
    expect(feed.polls.length).toBeLessThanOrEqual(most);
  }
});

test('stores the cursor in the state when the platform does not keep it', async () => {
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

test('never acknowledges an update before it is safe, and takes them all, whatever fails', async () => {
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
