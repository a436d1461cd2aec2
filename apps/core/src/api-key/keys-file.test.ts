import { chmodSync, lstatSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { changeKeys, readKeys, type KeyEntry } from './keys-file.ts';

let folder: TemporaryFolder;
let file: string;
beforeEach(() => {
  folder = temporaryFolder();
  file = path.join(folder.path, 'keys.json');
});
afterEach(() => folder.remove());

const entry = (identity: string): KeyEntry => ({ key: `k-${identity}`, identity, username: identity });
const add = (identity: string) => changeKeys(file, (keys) => [...keys, entry(identity)]);

describe('keys file', () => {
  test('is created readable for its owner only', async () => {
    expect(readKeys(file)).toEqual([]);
    await add('a');
    expect(readKeys(file)).toEqual([entry('a')]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('keeps unknown fields', async () => {
    writeFileSync(file, JSON.stringify({ note: 'mine', keys: [{ ...entry('a'), since: 2020 }] }), { mode: 0o600 });
    await add('b');
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ note: 'mine', keys: [{ ...entry('a'), since: 2020 }, entry('b')] });
  });

  test('that others can read becomes private on a change', async () => {
    writeFileSync(file, '{"keys":[]}');
    chmodSync(file, 0o644);
    await add('a');
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('that is a symlink remains one', async () => {
    const real = path.join(folder.path, 'real.json');
    writeFileSync(real, '{"keys":[]}', { mode: 0o600 });
    symlinkSync(real, file);
    await add('a');
    expect(lstatSync(file).isSymbolicLink()).toBe(true);
    expect(readKeys(real)).toEqual([entry('a')]);
  });

  test.each(['', '{', '[]', '{}', '{"keys":{}}', '{"keys":[{"key":"k"}]}', '{"keys":[null]}'])(
    'containing %j is rejected and left unchanged',
    async (text) => {
      writeFileSync(file, text, { mode: 0o600 });
      await expect(add('a')).rejects.toMatchObject({ code: 'unprocessable' });
      expect(readFileSync(file, 'utf8')).toBe(text);
    },
  );

  test('is changed by one writer at a time, without leftovers', async () => {
    const names = Array.from({ length: 20 }, (_, i) => `n${i}`);
    await Promise.all(names.map(add));
    expect(new Set(readKeys(file).map(({ identity }) => identity))).toEqual(new Set(names));
    expect(readdirSync(folder.path).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  test('stays unchanged when the change fails', async () => {
    await add('a');
    const fail = () => {
      throw new Error('no');
    };
    await expect(changeKeys(file, fail)).rejects.toThrow('no');
    await add('b');
    expect(readKeys(file).map(({ identity }) => identity)).toEqual(['a', 'b']);
  });
});
