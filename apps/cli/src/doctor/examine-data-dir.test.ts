import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { examineDataDir } from './examine-data-dir.ts';
import { examineDatabases } from './examine-databases.ts';
import { startDatabaseReader } from './start-reader.ts';

let folder: TemporaryFolder;
let dir = '';
beforeEach(() => {
  folder = temporaryFolder();
  dir = path.join(folder.path, 'data dir');
  mkdirSync(dir, { mode: 0o700 });
});
afterEach(() => folder.remove());

const problems = async (dataDir: string) =>
  [...(await examineDataDir(dataDir)), ...(await examineDatabases(dataDir, startDatabaseReader()))].filter(
    ({ state }) => state === 'problem',
  );

describe('examination of the data folder', () => {
  test('reports no problem for a folder that others cannot enter', async () => {
    writeFileSync(path.join(dir, 'trust.seed.json'), '{}', { mode: 0o644 });
    writeFileSync(path.join(dir, 'core.db'), '');
    expect(await problems(dir)).toEqual([]);
  });

  test('skips a folder that the first start will create', async () => {
    expect(await examineDataDir(path.join(dir, 'a', 'b'))).toMatchObject([{ name: 'data', state: 'skipped' }]);
  });

  test('reports a folder that others can enter', async () => {
    chmodSync(dir, 0o755);
    expect(await problems(dir)).toMatchObject([{ name: 'privacy', fix: `chmod 700 '${dir}'` }]);
  });

  test.each([
    ['a file in its place', 'file', 'is not a folder'],
    ['a file above it', 'file/data', 'not a directory'],
    ['a name that is too long', 'x'.repeat(300), 'name too long'],
  ])('reports %s', async (_, name, text) => {
    writeFileSync(path.join(dir, 'file'), '');
    const [found] = await problems(path.join(dir, name));
    expect(found?.text).toContain(text);
    expect(found?.fix).toContain('SVC_DATA_DIR');
  });

  test('reports files of another user', async ({ skip }) => {
    skip(process.getuid?.() !== 0, 'only root can give files away');
    for (const name of ['core.db', 'collector.db', 'manager.db-wal']) writeFileSync(path.join(dir, name), '');
    chownSync(path.join(dir, 'collector.db'), 65_534, 65_534);
    const [found] = await problems(dir);
    expect(found?.text).toBe(`${dir} has files of another user, as sudo leaves them: collector.db`);
    expect(found?.fix).toBe(`sudo chown -R "$(id -un)" '${dir}'`);
  });

  test('reports a parent folder that is not writable', async ({ skip }) => {
    skip(process.getuid?.() === 0, 'root can write everywhere');
    chmodSync(dir, 0o500);
    expect((await problems(path.join(dir, 'data')))[0]?.text).toContain('permission denied');
  });

  test('reports a place where folders cannot be created', async ({ skip }) => {
    skip(process.platform !== 'linux', 'there is no /proc here');
    expect((await problems('/proc/x/data'))[0]?.text).toContain('/proc/x/data cannot be created');
  });

  test('reports a damaged database, and how to start without it', async () => {
    writeFileSync(path.join(dir, 'core.db'), 'x'.repeat(100));
    mkdirSync(path.join(dir, 'manager.db'));
    const found = await problems(dir);
    expect(found.map(({ text }) => text)).toEqual([
      `${dir}/core.db is damaged: file is not a database`,
      expect.stringContaining(`${dir}/manager.db cannot be read: `),
    ]);
    expect(found[0]?.fix).toContain(`mv '${dir}/core.db'* '${dir}/broken'`);
  });
});
