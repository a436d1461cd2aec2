import { randomBytes } from 'node:crypto';
import { createReadStream, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createTarDecoder, createTarPacker } from 'modern-tar';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { tar } from '../../test/make-archive.ts';
import { usualLimits } from './archive-rules.ts';
import { readArchive } from './read-archive.ts';
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

test('an archive is read back as it was written', async () => {
  const { folder, write } = setUp();
  const file = path.join(folder, 'b.tar.gz');
  const contents = await write(file, size, Buffer.from('{}'));
  const read = await readArchive(createReadStream(file), { ...usualLimits, maxBytes: Infinity }, nothing);
  expect(read.contents).toEqual(contents);
  expect(contents.files.map(({ path: name }) => name)).toEqual(['pricing.json', 'secrets.enc', 'uploads/a']);
});

test('an archive of many uploads is read back, but not one that unpacks to many files', async () => {
  const { folder } = setUp();
  const [small, to] = [path.join(folder, 'small'), path.join(folder, 'b.tar.gz')];
  writeFileSync(small, 'a tulip');
  const many = Array.from({ length: 100 }, (_, number) => ({ name: `uploads/${number}`, file: small, bytes: 7 }));
  const parts = { secrets: null, facts, small: [], large: [] };
  const limits = { ...usualLimits, maxBytes: Infinity, maxEntries: 10 };
  const hooks = { signal: new AbortController().signal, onBytes: () => {} };
  const contents = await writeArchive(to, { ...parts, large: many }, hooks);
  expect((await readArchive(createReadStream(to), limits, nothing)).contents).toEqual(contents);
  await writeArchive(`${to}2`, { ...parts, small: many }, hooks);
  await expect(readArchive(createReadStream(`${to}2`), limits, nothing)).rejects.toThrow('more than 10 files');
});

test('databases are compressed and uploads are not', async () => {
  const { folder } = setUp();
  const [zeros, to] = [path.join(folder, 'zeros'), path.join(folder, 'b.tar.gz')];
  const bytes = 1_000_000;
  writeFileSync(zeros, Buffer.alloc(bytes));
  const parts = { small: [{ name: 'core.db', file: zeros, bytes }], large: [{ name: 'uploads/a', file: zeros, bytes }] };
  await writeArchive(to, { ...parts, secrets: null, facts }, { signal: new AbortController().signal, onBytes: () => {} });
  expect(statSync(to).size - bytes).toBeGreaterThan(0);
  expect(statSync(to).size - bytes).toBeLessThan(50_000);
});

test('a size over 8 GiB is written and read in both encodings', async () => {
  const size = 9 * 1024 ** 3;
  const { readable, controller } = createTarPacker();
  controller.add({ name: 'uploads/a', size });
  const reader = readable.getReader();
  const written = await Promise.all([1, 2, 3, 4].map(async () => (await reader.read()).value ?? Buffer.of()));
  expect(await sizeRead(written)).toBe(size);
  expect(await sizeRead([tar([{ name: 'uploads/a', size }])])).toBe(size);
});

async function sizeRead(blocks: readonly Uint8Array[]): Promise<number | undefined> {
  const decoder = createTarDecoder({ strict: true });
  const writer = decoder.writable.getWriter();
  const first = decoder.readable.getReader().read();
  for (const block of blocks) await writer.write(block);
  return (await first).value?.header.size;
}

test('rejects when the target cannot be written', async () => {
  const { folder, write } = setUp();
  await expect(write(path.join(folder, 'none', 'b.tar.gz'))).rejects.toThrow('ENOENT');
});

test('rejects when a file becomes shorter', async () => {
  const { folder, write } = setUp();
  await expect(write(path.join(folder, 'b.tar.gz'), size + 1)).rejects.toThrow('became shorter');
});

test('rejects when aborted', async () => {
  const { folder, write, stop } = setUp();
  const writing = write(path.join(folder, 'b.tar.gz'), size, null, () => stop.abort());
  await expect(writing).rejects.toThrow('abort');
});
