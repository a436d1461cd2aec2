import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { gatherFiles, gatherSecrets } from './gather-files.ts';

let root: string;
beforeEach(() => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  root = folder.path;
  mkdirSync(path.join(root, 'instances/one'), { recursive: true });
});

const write = (name: string, text: string) => writeFileSync(path.join(root, 'instances/one', name), text);
const gather = async () =>
  (await gatherFiles(dataPaths(root), { manifest: path.join(root, 'uploads/manifest.jsonl') })).map(({ name }) => name);
const gatherSealed = async () => (await gatherSecrets(dataPaths(root), '')).map(({ path: name }) => name);

test('files of an instance go in the clear only when they are seen to be harmless', async () => {
  write('plain.txt', 'a list of tulips');
  write('keys.json', '{}');
  write('other.txt', 'the token is x');
  expect(await gather()).toEqual(['instances/one/plain.txt']);
  expect(await gatherSealed()).toEqual(['instances/one/keys.json', 'instances/one/other.txt']);
});

test('a file too long to be read is in no backup without secrets, and is a reason not to make one with them', async () => {
  write('plain.txt', 'a list of tulips');
  write('film.bin', '');
  truncateSync(path.join(root, 'instances/one/film.bin'), 3 * 2 ** 30);
  expect(await gather()).toEqual(['instances/one/plain.txt']);
  await expect(gatherSealed()).rejects.toMatchObject({ code: 'too_large', message: expect.stringContaining('film.bin') });
});

test('personas go along, and nothing else that lies beside them', async () => {
  mkdirSync(path.join(root, 'personas/folder'), { recursive: true });
  for (const name of ['shop.md', 'Shop.txt', '.hidden.md', 'folder/inner.md'])
    writeFileSync(path.join(root, 'personas', name), 'x');
  expect(await gather()).toEqual(['personas/shop.md']);
});
