import { mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { prunePhotos } from './keep-photos.ts';

const mb = 1024 * 1024;
const now = Date.UTC(2026, 10, 23);
const daysAgo = (days: number) => new Date(now - days * 24 * 60 * 60_000);

/** A folder with files of one MB each, modified the given days ago. */
function folderWith(files: Record<string, number>): string {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  for (const [name, days] of Object.entries(files)) {
    const place = path.join(folder.path, name);
    writeFileSync(place, Buffer.alloc(mb));
    utimesSync(place, daysAgo(days), daysAgo(days));
  }
  return folder.path;
}

test('removes photos that are too old, and partial files', async () => {
  const folder = folderWith({ '1_1.jpg': 31, '-100_2.jpg': 29, '1_3.jpg.part': 31, '1_4.jpg': 0 });
  await prunePhotos(folder, '', { days: 30, megabytes: 0 }, now);
  expect(readdirSync(folder).toSorted()).toEqual(['-100_2.jpg', '1_4.jpg']);
});

test('keeps the newest photos within the size limit', async () => {
  const folder = folderWith({ '1_1.jpg': 3, '1_2.jpg': 2, '1_3.jpg': 1 });
  await prunePhotos(folder, '', { days: 0, megabytes: 2 }, now);
  expect(readdirSync(folder).toSorted()).toEqual(['1_2.jpg', '1_3.jpg']);
});

test('keeps files that are not named as photos of this instance, and non-files', async () => {
  const mine = ['bot_1_1.jpg', 'bot_b77-1_1.jpg', 'bot_b77--100_2.jpg'];
  const others = ['1_1.jpg', 'other_1_1.jpg', 'holiday.jpg', 'bot_1_1.jpg.bak', 'bot_1_1_1.jpg', 'bot_x_1.jpg'];
  const folder = folderWith(Object.fromEntries([...mine, ...others].map((name) => [name, 99])));
  mkdirSync(path.join(folder, 'bot_9_9.jpg'));
  symlinkSync(path.join(folder, 'holiday.jpg'), path.join(folder, 'bot_8_8.jpg'));
  await prunePhotos(folder, 'bot_', { days: 1, megabytes: 1 }, now);
  expect(readdirSync(folder).toSorted()).toEqual([...others, 'bot_9_9.jpg', 'bot_8_8.jpg'].toSorted());
});

test('keeps everything without limits, and accepts a missing folder', async () => {
  const folder = folderWith({ '1_1.jpg': 9999 });
  await prunePhotos(folder, '', { days: 0, megabytes: 0 }, now);
  expect(readdirSync(folder)).toEqual(['1_1.jpg']);
  await prunePhotos(path.join(folder, 'none'), '', { days: 1, megabytes: 1 }, now);
});
