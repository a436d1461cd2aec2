import { createHash, randomBytes } from 'node:crypto';
import { truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PrefixHash } from './prefix-hash.ts';

const chunkBytes = 2 * 1024 * 1024;
const chunks = 4;
const bytes = randomBytes(chunkBytes * chunks);
const expected = createHash('sha256').update(bytes).digest('hex');

let folder: TemporaryFolder;
let received: Set<number>;
beforeEach(() => {
  folder = temporaryFolder();
  received = new Set([0, 1, 2, 3]);
});
afterEach(() => folder.remove());

const fileOf = () => path.join(folder.path, 'data');
const chunk = (index: number) => bytes.subarray(index * chunkBytes, (index + 1) * chunkBytes);
const digestOf = (...parts: Buffer[]) => createHash('sha256').update(Buffer.concat(parts)).digest('hex');
const other = randomBytes(chunkBytes);

function open(onLength: (index: number) => void = () => undefined): PrefixHash {
  const file = fileOf();
  writeFileSync(file, bytes);
  return new PrefixHash({
    file,
    chunks,
    lengthOf: (index) => (onLength(index), chunkBytes),
    offsetOf: (index) => index * chunkBytes,
    isReceived: (index) => received.has(index),
  });
}

test('advancing while the digest is computed does not change it', async () => {
  const hash = open();
  const digest = hash.digest();
  hash.advance();
  hash.advance();
  expect(await digest).toBe(expected);
  expect(await Promise.all([hash.digest(), hash.digest()])).toEqual([expected, expected]);
});

test('a digest of incomplete chunks is rejected', async () => {
  received.delete(2);
  await expect(open().digest()).rejects.toThrow('before every chunk had landed');
});

test('the next chunk is hashed while it is received, one at a time', async () => {
  const hash = open();
  expect(hash.tap(1)).toBeNull();
  for (const index of [0, 1]) {
    const tap = hash.tap(index);
    expect([tap === null, hash.tap(index)]).toEqual([false, null]);
    tap?.update(chunk(index).subarray(0, 1000));
    tap?.update(chunk(index).subarray(1000));
    tap?.end(true);
  }
  expect(hash.tap(1)).toBeNull();
  expect(await hash.digest()).toBe(expected);
});

test('a chunk that failed is discarded from the hash', async () => {
  const hash = open();
  const tap = hash.tap(0);
  tap?.update(other);
  tap?.end(false);
  expect(await hash.digest()).toBe(expected);
});

test('bytes hashed before a reset are discarded', async () => {
  const hash = open();
  const tap = hash.tap(0);
  tap?.update(other);
  hash.reset();
  tap?.end(true);
  expect(await hash.digest()).toBe(expected);
});

test('a reset while the file is read restarts the hash', async () => {
  let times = 0;
  const hash = open((index) => void (index === 1 && times++ === 0 && hash.reset()));
  hash.advance();
  expect(await hash.digest()).toBe(expected);
});

test.each([0, 1, 3])('replacing chunk %i rehashes it and all chunks after it', async (index) => {
  const hash = open();
  await hash.digest();
  const parts = [0, 1, 2, 3].map((at) => (at === index ? other : chunk(at)));
  hash.changed(index);
  writeFileSync(fileOf(), Buffer.concat(parts));
  expect(await hash.digest()).toBe(digestOf(...parts));
});

test('a file shorter than its chunks has no digest', async () => {
  const hash = open();
  truncateSync(fileOf(), bytes.length - 1);
  await expect(hash.digest()).rejects.toThrow('shorter than its chunks');
});
