import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { beforeEach, expect, test } from 'vitest';
import type { FolderFinding } from './check-folder.ts';
import { createFolderLooks, type FolderLooks } from './folder-looks.ts';

const hangs = { ok: false, why: 'its file system does not answer' };
const fine: FolderFinding = { ok: true, path: '/real' };
let clock: ReturnType<typeof createFakeClock>;
let asked: { folder: string; answer: (finding: FolderFinding) => void }[];
let looks: FolderLooks;

beforeEach(() => {
  clock = createFakeClock();
  asked = [];
  const check = (folder: string) => new Promise<FolderFinding>((answer) => asked.push({ folder, answer }));
  looks = createFolderLooks({ dataDir: '/data', clock, check });
});
const answerAll = (finding: FolderFinding) => asked.forEach(({ answer }) => answer(finding));

test('turns that begin together share one look, the next one looks again', async () => {
  const both = Promise.all([looks.look('/a'), looks.look('/a')]);
  answerAll(fine);
  expect(await both).toEqual([fine, fine]);
  expect(asked).toHaveLength(1);
  void looks.look('/a');
  expect(asked).toHaveLength(2);
});

test('a file system that hangs holds nobody up for longer than two seconds, and is asked once', async () => {
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

test('folders that hang never hold more than two threads', async () => {
  const all = Promise.all(['/a', '/b', '/c', '/d'].map((folder) => looks.look(folder)));
  expect(asked.map(({ folder }) => folder)).toEqual(['/a', '/b']);
  clock.advance(2000);
  expect(await all).toEqual([hangs, hangs, hangs, hangs]);
  answerAll(fine);
  await expect.poll(() => asked.map(({ folder }) => folder)).toEqual(['/a', '/b', '/c', '/d']);
});

test('what is wrong is looked at again without a turn', async () => {
  expect(looks.lastFault('/a')).toBeNull();
  answerAll({ ok: false, why: 'gone' });
  await expect.poll(() => looks.lastFault('/a')).toBe('gone');
  clock.advance(30_000);
  expect(looks.lastFault('/a')).toBe('gone');
  answerAll(fine);
  await expect.poll(() => looks.lastFault('/a')).toBeNull();
});
