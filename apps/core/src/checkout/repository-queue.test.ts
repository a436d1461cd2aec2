import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRepositoryQueue } from './repository-queue.ts';

test('one repository is worked on by one at a time, in order, few at once are, and everything ends', async () => {
  const works = fc.array(fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd'), fails: fc.boolean() }), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(works, fc.scheduler(), async (given, scheduler) => {
      const queue = createRepositoryQueue({ atOnce: 2, inLine: 100 });
      const live: string[] = [];
      const order: Record<string, number[]> = {};
      const done = given.map(({ name, fails }, at) =>
        queue
          .run(name, async () => {
            expect(live).not.toContain(name);
            live.push(name);
            expect(live.length).toBeLessThanOrEqual(2);
            (order[name] ??= []).push(at);
            await scheduler.schedule(Promise.resolve());
            live.splice(live.indexOf(name), 1);
            if (fails) throw new Error('it fails');
          })
          .catch(() => undefined),
      );
      await scheduler.waitFor(Promise.all(done));
      for (const list of Object.values(order)) expect(list).toEqual(list.toSorted((a, b) => a - b));
      expect([Object.values(order).flat().length, queue.isIdle()]).toEqual([given.length, true]);
    }),
    { numRuns: 50 },
  );
});

test('more than may wait are refused', async () => {
  const queue = createRepositoryQueue({ atOnce: 1, inLine: 1 });
  const end = Promise.withResolvers<void>();
  const first = queue.run('a', () => end.promise);
  await expect(queue.run('b', async () => undefined)).rejects.toMatchObject({ code: 'queue_full' });
  end.resolve();
  await first;
  await queue.run('b', async () => undefined);
});
