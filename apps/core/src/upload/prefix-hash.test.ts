import { createHash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
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

function open(): PrefixHash {
  const file = path.join(folder.path, 'data');
  writeFileSync(file, bytes);
  return new PrefixHash({
    file,
    chunks,
    lengthOf: () => chunkBytes,
    offsetOf: (index) => index * chunkBytes,
    isReceived: (index) => received.has(index),
  });
}

test('a chunk that comes again while the whole is read changes nothing of the digest', async () => {
  const hash = open();
  const digest = hash.digest();
  hash.advance();
  hash.advance();
  expect(await digest).toBe(expected);
  expect(await Promise.all([hash.digest(), hash.digest()])).toEqual([expected, expected]);
});

test('there is no digest of a part', async () => {
  received.delete(2);
  await expect(open().digest()).rejects.toThrow('before every chunk had landed');
});
