import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { contentsFor, tarGz, type TarEntry } from '../../test/make-archive.ts';
import { unpackArchive } from './unpack-archive.ts';

let folder: string;
beforeEach(() => {
  const place = temporaryFolder();
  onTestFinished(place.remove);
  folder = place.path;
});

const unpack = (entries: readonly TarEntry[], maxWaitingBytes?: number) =>
  unpackArchive(Readable.from([tarGz(entries)]), folder, 1e9, maxWaitingBytes);
const blobs = (count: number, content?: Buffer): TarEntry[] =>
  Array.from({ length: count }, (_, number) => ({ name: `silos/silo_a/blob_${number}`, ...(content && { content }) }));

test('[S02] small files are written only after the archive was verified', async () => {
  await expect(unpack([...blobs(2000), { name: 'no-part-of-ours' }])).rejects.toMatchObject({ code: 'unprocessable' });
  expect(readdirSync(folder)).toEqual([]);
});

test('small and large files are unpacked completely', async () => {
  const entries = [
    ...blobs(3, Buffer.from('some')),
    { name: 'silos/silo_b/blob_0' },
    { name: 'uploads/day/large', content: Buffer.alloc(100_000, 7) },
  ];
  await unpack([...entries, contentsFor(entries)]);
  for (const { name, content = Buffer.of() } of entries) expect(readFileSync(path.join(folder, name))).toEqual(content);
});

test('small files are held in bounded memory and written beyond it', async () => {
  const entries = [...blobs(30, Buffer.alloc(1000)), { name: 'no-part-of-ours' }];
  await expect(unpack(entries, 20_000)).rejects.toThrow('does not belong');
  expect(readdirSync(path.join(folder, 'silos/silo_a'))).toHaveLength(30 - Math.floor(20_000 / 1128));
});

test('[S02] rejects small files with conflicting paths', async () => {
  const entries = [{ name: 'connectors/one/a' }, { name: 'connectors/one/a/b' }];
  await expect(unpack([...entries, contentsFor(entries)])).rejects.toThrow('conflicting paths');
});

test('a backup larger than the free space is reported as lack of space, not as damaged', async () => {
  const entries = [{ name: 'uploads/day/large', content: Buffer.alloc(4 * 2 ** 20, 7) }];
  const archive = Readable.from([tarGz([...entries, contentsFor(entries)])]);
  await expect(unpackArchive(archive, folder, 2 ** 20)).rejects.toMatchObject({
    code: 'insufficient_storage',
    message: expect.stringMatching(
      /^The backup unpacks to more than the 1\.0 MiB that it may take: .* stay free for the service\. Free some space\.$/,
    ),
  });
});
