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

describe('a keys file', () => {
  test('is made when there is none, for its owner alone', async () => {
    expect(readKeys(file)).toEqual([]);
    await add('a');
    expect(readKeys(file)).toEqual([entry('a')]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('keeps what else its author wrote', async () => {
    writeFileSync(file, JSON.stringify({ note: 'mine', keys: [{ ...entry('a'), since: 2020 }] }), { mode: 0o600 });
    await add('b');
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ note: 'mine', keys: [{ ...entry('a'), since: 2020 }, entry('b')] });
  });

  test('that others can read is for its owner alone after a change', async () => {
    writeFileSync(file, '{"keys":[]}');
    chmodSync(file, 0o644);
    await add('a');
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('that is a link stays one', async () => {
    const real = path.join(folder.path, 'real.json');
    writeFileSync(real, '{"keys":[]}', { mode: 0o600 });
    symlinkSync(real, file);
    await add('a');
    expect(lstatSync(file).isSymbolicLink()).toBe(true);
    expect(readKeys(real)).toEqual([entry('a')]);
  });

  test.each(['', '{', '[]', '{}', '{"keys":{}}', '{"keys":[{"key":"k"}]}', '{"keys":[null]}'])(
    'of %j is refused and left as it is, and nothing of it is said',
    async (text) => {
      writeFileSync(file, text, { mode: 0o600 });
      await expect(add('a')).rejects.toMatchObject({ code: 'unprocessable' });
      expect(readFileSync(file, 'utf8')).toBe(text);
    },
  );

  test('is changed by one at a time, and whole at every moment', async () => {
    const names = Array.from({ length: 20 }, (_, i) => `n${i}`);
    await Promise.all(names.map(add));
    expect(new Set(readKeys(file).map(({ identity }) => identity))).toEqual(new Set(names));
    expect(readdirSync(folder.path).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  test('stays as it was when the change fails', async () => {
    await add('a');
    const fail = () => {
      throw new Error('no');
    };
    await expect(changeKeys(file, fail)).rejects.toThrow('no');
    await add('b');
    expect(readKeys(file).map(({ identity }) => identity)).toEqual(['a', 'b']);
  });
});
