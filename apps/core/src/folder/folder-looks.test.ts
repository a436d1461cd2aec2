import { setImmediate } from 'node:timers/promises';
import { createFakeClock, type FakeClock } from '@svc/testing/fake-clock.ts';
import fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';
import type { FolderFinding } from './check-folder.ts';
import { createFolderLooks, type FolderLooks } from './folder-looks.ts';

const hangs = { ok: false, why: 'its file system does not answer' };
const crowded = { ok: false, why: 'it could not be checked, because the file systems of other folders do not answer' };
const fine: FolderFinding = { ok: true, path: '/real' };
let clock: FakeClock;
let asked: { folder: string; answer: (finding: FolderFinding) => void }[];
let looks: FolderLooks;

beforeEach(() => {
  clock = createFakeClock();
  asked = [];
  const check = (folder: string) => new Promise<FolderFinding>((answer) => asked.push({ folder, answer }));
  looks = createFolderLooks({ dataDir: '/data', clock, check, resolve: check });
});
const answerAll = (finding: FolderFinding) => asked.forEach(({ answer }) => answer(finding));

test('concurrent turns share one check of a folder, and the next turn checks again', async () => {
  const both = Promise.all([looks.look('/a'), looks.look('/a')]);
  answerAll(fine);
  expect(await both).toEqual([fine, fine]);
  expect(asked).toHaveLength(1);
  void looks.look('/a');
  expect(asked).toHaveLength(2);
});

test('a hanging file system delays a turn by at most two seconds, and is checked once', async () => {
  const first = looks.look('/a');
  clock.advance(2000);
  expect(await first).toEqual(hangs);
  clock.advance(60_000);
  expect(await looks.look('/a')).toEqual(hangs);
  expect(looks.lastFault('/a')).toBe(hangs.why);
  expect(asked).toHaveLength(1);
  answerAll(fine);
  await expect.poll(() => looks.lastFault('/a')).toBeNull();
});

test('hanging folders occupy at most two threads', async () => {
  const all = Promise.all(['/a', '/b', '/c', '/d'].map((folder) => looks.look(folder)));
  expect(asked.map(({ folder }) => folder)).toEqual(['/a', '/b']);
  clock.advance(2000);
  expect(await all).toEqual([hangs, hangs, crowded, crowded]);
  expect(looks.lastFault('/c')).toBe(crowded.why);
  void looks.look('/c');
  answerAll(fine);
  await expect.poll(() => asked.map(({ folder }) => folder)).toEqual(['/a', '/b', '/c']);
});

test('a queued folder is checked when another one answers in time', async () => {
  const all = Promise.all(['/a', '/b', '/c'].map((folder) => looks.look(folder)));
  clock.advance(1999);
  asked[1]?.answer(fine);
  await expect.poll(() => asked.map(({ folder }) => folder)).toEqual(['/a', '/b', '/c']);
  asked[2]?.answer(fine);
  await expect.poll(() => looks.lastFault('/c')).toBeNull();
  clock.advance(1);
  expect(await all).toEqual([hangs, fine, fine]);
});

test('resolving a path has the same timeout and shares the two threads', async () => {
  void looks.look('/a');
  const all = Promise.all([looks.resolve('/b'), looks.resolve('/b'), looks.resolve('/c'), looks.lookForTrust('/d')]);
  expect(asked.map(({ folder }) => folder)).toEqual(['/a', '/b']);
  clock.advance(2000);
  expect(await all).toEqual([hangs, hangs, crowded, crowded]);
  asked[1]?.answer({ ok: true, path: '/real' });
  expect(await looks.resolve('/b')).toEqual(hangs);
  await setImmediate();
  void looks.resolve('/e');
  expect(asked.map(({ folder }) => folder)).toEqual(['/a', '/b', '/e']);
});

test('at most two checks run at once and each is answered within two seconds, in random schedules', async () => {
  const step = fc.oneof(
    fc.record({ look: fc.constantFrom('/a', '/b', '/c', '/d') }),
    fc.record({ answer: fc.nat(5) }),
    fc.record({ wait: fc.constantFrom(0, 500, 2000) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const going = new Set<(finding: FolderFinding) => void>();
      const own = createFakeClock();
      const check = () =>
        new Promise<FolderFinding>((resolve) => {
          const answer = (finding: FolderFinding) => {
            going.delete(answer);
            resolve(finding);
          };
          going.add(answer);
        });
      const sut = createFolderLooks({ dataDir: '/data', clock: own, check });
      const answers: Promise<FolderFinding>[] = [];
      for (const one of steps) {
        if ('look' in one) answers.push(sut.look(one.look));
        if ('answer' in one) [...going][one.answer]?.(fine);
        if ('wait' in one) own.advance(one.wait);
        await setImmediate();
        expect(going.size).toBeLessThanOrEqual(2);
      }
      own.advance(2000);
      await Promise.all(answers);
    }),
    { numRuns: 200 },
  );
});

test('a fault is checked again in the background, without a turn', async () => {
  expect(looks.lastFault('/a')).toBeNull();
  answerAll({ ok: false, why: 'gone' });
  await expect.poll(() => looks.lastFault('/a')).toBe('gone');
  clock.advance(30_000);
  expect(looks.lastFault('/a')).toBe('gone');
  answerAll(fine);
  await expect.poll(() => looks.lastFault('/a')).toBeNull();
});
