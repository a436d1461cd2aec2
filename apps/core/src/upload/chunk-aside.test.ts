import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { setAside } from './chunk-aside.ts';

const before = Buffer.from('what stands before');
const after = Buffer.from('what stands behind');

/** A file with `there` in its middle, and `again` in a file beside it. */
async function openAside(there: Buffer, again: Buffer) {
  const folder = temporaryFolder();
  const whole = path.join(folder.path, 'whole');
  const beside = path.join(folder.path, 'beside');
  writeFileSync(whole, Buffer.concat([before, there, after]));
  writeFileSync(beside, 'what an earlier process left there, which is longer than a chunk may be'.repeat(100_000));
  const aside = await setAside(beside);
  onTestFinished(folder.remove);
  await aside.handle.write(again, 0, again.length, 0);
  const place = { open: () => open(whole, 'r+'), position: before.length, length: again.length };
  return { aside, place, beside, read: () => readFileSync(whole) };
}

/** Longer than the blocks that are compared and copied. */
const long = 2_500_000;

test.each([0, 1_048_575, 1_048_576, 2_097_152, long - 1])('detects a single different byte at %i, and copies it', async (at) => {
  const there = randomBytes(long);
  const again = Buffer.from(there);
  again[at] = (again[at] ?? 0) ^ 1;
  const { aside, place, read } = await openAside(there, again);
  expect(await aside.isAt(place)).toBe(false);
  await aside.copyTo(place);
  expect(await aside.isAt(place)).toBe(true);
  expect(read().equals(Buffer.concat([before, again, after]))).toBe(true);
  await aside.remove();
});

test.each([0, 1, 1_048_576, long])('recognizes %i equal bytes', async (length) => {
  const there = randomBytes(length);
  const { aside, place, beside, read } = await openAside(there, there);
  expect(await aside.isAt(place)).toBe(true);
  expect(read().length).toBe(before.length + length + after.length);
  await aside.remove();
  expect(existsSync(beside)).toBe(false);
});

test('a file that ends too early is an error, not equal', async () => {
  const { aside, place } = await openAside(randomBytes(10), randomBytes(100));
  await expect(aside.isAt(place)).rejects.toThrow('shorter than its chunks');
  await aside.remove();
});
