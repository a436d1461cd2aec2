import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRepositoryQueue } from './repository-queue.ts';

test('work on a repository runs one at a time in order, within the limits, in random schedules', async () => {
  const works = fc.array(fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd'), fails: fc.boolean() }), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(works, fc.scheduler(), async (given, scheduler) => {
      const queue = createRepositoryQueue({ atOnce: 3, ofOwner: 2, inLine: 100, inLineOfOwner: 100 });
      const live: string[] = [];
      const order: Record<string, number[]> = {};
      const done = given.map(({ name, fails }, at) =>
        queue
          .run({ owner: name < 'c' ? 'x' : 'y', repository: name }, async () => {
            expect(live).not.toContain(name);
            live.push(name);
            expect(live.length).toBeLessThanOrEqual(3);
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

test('rejects work over the limits, and one owner leaves room for others', async () => {
  const queue = createRepositoryQueue({ atOnce: 3, ofOwner: 2, inLine: 4, inLineOfOwner: 3 });
  const end = Promise.withResolvers<void>();
  const hanging = ['a', 'b', 'c'].map((repository) => queue.run({ owner: 'x', repository }, () => end.promise));
  const refused = { code: 'queue_full' };
  await expect(queue.run({ owner: 'x', repository: 'd' }, async () => undefined)).rejects.toMatchObject(refused);
  await queue.run({ owner: 'y', repository: 'a2' }, async () => undefined);
  const last = queue.run({ owner: 'y', repository: 'e' }, () => end.promise);
  await expect(queue.run({ owner: 'z', repository: 'f' }, async () => undefined)).rejects.toMatchObject(refused);
  end.resolve();
  await Promise.all([...hanging, last]);
  expect(queue.isIdle()).toBe(true);
});
