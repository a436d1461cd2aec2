import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { gatherFiles, gatherSecrets, type LeftOut } from './gather-files.ts';

let root: string;
beforeEach(() => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  root = folder.path;
  mkdirSync(path.join(root, 'instances/one'), { recursive: true });
});

const write = (name: string, text: string) => writeFileSync(path.join(root, 'instances/one', name), text);
const gather = async (options: Partial<Parameters<typeof gatherFiles>[1]> = {}) =>
  (await gatherFiles(dataPaths(root), { manifest: path.join(root, 'uploads/manifest.jsonl'), ...options })).map(
    ({ name }) => name,
  );
const gatherSealed = async () => (await gatherSecrets(dataPaths(root), '')).map(({ path: name }) => name);

test('files of an instance are stored unencrypted only when they hold no secrets', async () => {
  write('plain.txt', 'a list of tulips');
  write('keys.json', '{}');
  write('other.txt', 'the token is x');
  expect(await gather()).toEqual(['instances/one/plain.txt']);
  expect(await gatherSealed()).toEqual(['instances/one/keys.json', 'instances/one/other.txt']);
});

test('a file too long to be examined is left out, and prevents a backup with secrets', async () => {
  write('plain.txt', 'a list of tulips');
  write('film.bin', '');
  truncateSync(path.join(root, 'instances/one/film.bin'), 3 * 2 ** 30);
  expect(await gather()).toEqual(['instances/one/plain.txt']);
  await expect(gatherSealed()).rejects.toMatchObject({ code: 'too_large', message: expect.stringContaining('film.bin') });
});

test('personas are included, and other files of their folder are not', async () => {
  mkdirSync(path.join(root, 'personas/folder'), { recursive: true });
  for (const name of ['shop.md', 'Shop.txt', '.hidden.md', 'folder/inner.md'])
    writeFileSync(path.join(root, 'personas', name), 'x');
  expect(await gather()).toEqual(['personas/shop.md']);
});

test('a file of an instance that cannot be restored under its name is not sealed', async () => {
  write('a\\b.key', 'x');
  write('keys.json', '{}');
  expect(await gatherSealed()).toEqual(['instances/one/keys.json']);
});

test('a file that was sealed is not packed a second time when it no longer holds secrets', async () => {
  write('other.txt', 'the token is x');
  const sealed = new Set(await gatherSealed());
  write('other.txt', 'a list of tulips');
  write('plain.txt', 'a list of tulips');
  expect(await gather({ sealed })).toEqual(['instances/one/plain.txt']);
});

test('of two files whose names differ only in upper and lower case the second is left out, and reported', async () => {
  write('Tulip.txt', 'one');
  write('tulip.txt', 'two');
  const leftOut: LeftOut[] = [];
  expect(await gather({ onLeftOut: (each) => void leftOut.push(each) })).toEqual(['instances/one/Tulip.txt']);
  expect(leftOut).toEqual([{ file: 'instances/one/tulip.txt' }]);
});
