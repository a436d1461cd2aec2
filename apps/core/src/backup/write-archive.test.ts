import { randomBytes } from 'node:crypto';
import { createReadStream, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { readArchive, usualLimits } from './read-archive.ts';
import { writeArchive } from './write-archive.ts';

const size = 3_000_000;
const facts = { format: 1, version: '0.1.0', created_at: 1, schemas: {} };

function setUp() {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const file = path.join(folder.path, 'a.bin');
  writeFileSync(file, randomBytes(size));
  const stop = new AbortController();
  const write = (to: string, bytes = size, secrets: Buffer | null = null, onBytes = (_bytes: number) => {}) =>
    writeArchive(
      to,
      { small: [{ name: 'pricing.json', file, bytes }], large: [{ name: 'uploads/a', file, bytes }], secrets, facts },
      { signal: stop.signal, onBytes },
    );
  return { folder: folder.path, write, stop };
}

const nothing = () => Promise.resolve({ write: () => Promise.resolve(), end: () => Promise.resolve() });

test('an archive reads as it was packed, whatever is stored as it is', async () => {
  const { folder, write } = setUp();
  const file = path.join(folder, 'b.tar.gz');
  const contents = await write(file, size, Buffer.from('{}'));
  const read = await readArchive(createReadStream(file), { ...usualLimits, maxBytes: Infinity }, nothing);
  expect(read.contents).toEqual(contents);
  expect(contents.files.map(({ path: name }) => name)).toEqual(['pricing.json', 'secrets.enc', 'uploads/a']);
});

test('a target that takes nothing is a fault, and no hanging', async () => {
  const { folder, write } = setUp();
  await expect(write(path.join(folder, 'none', 'b.tar.gz'))).rejects.toThrow('ENOENT');
});

test('a file that becomes shorter is a fault', async () => {
  const { folder, write } = setUp();
  await expect(write(path.join(folder, 'b.tar.gz'), size + 1)).rejects.toThrow('became shorter');
});

test('what is given up ends', async () => {
  const { folder, write, stop } = setUp();
  const writing = write(path.join(folder, 'b.tar.gz'), size, null, () => stop.abort());
  await expect(writing).rejects.toThrow('abort');
});
