import { lstatSync, mkdirSync, readFileSync, realpathSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import {
  ifThere,
  makePrivateDir,
  namesIn,
  readIfThere,
  realPlace,
  syncFolder,
  syncFolderSync,
  writeFileAtomic,
} from './files.ts';

function folder(): string {
  const temporary = temporaryFolder();
  onTestFinished(() => temporary.remove());
  return temporary.path;
}

test('makePrivateDir() creates parents, and restricts an existing folder', () => {
  const dir = path.join(folder(), 'a', 'b');
  makePrivateDir(dir);
  expect(statSync(path.dirname(dir)).mode & 0o777).toBe(0o700);
  const open = path.join(folder(), 'open');
  mkdirSync(open, { mode: 0o755 });
  makePrivateDir(open);
  expect(statSync(open).mode & 0o777).toBe(0o700);
});

test('makePrivateDir() throws where a file or the system prevents it', ({ skip }) => {
  const file = path.join(folder(), 'file');
  writeFileSync(file, '');
  expect(() => makePrivateDir(file)).toThrow('EEXIST');
  expect(() => makePrivateDir(path.join(file, 'below'))).toThrow('ENOTDIR');
  skip(process.platform !== 'linux', 'there is no /proc here');
  expect(() => makePrivateDir('/proc/x/data')).toThrow('ENOENT');
});

test('writeFileAtomic() does not write through a symbolic link or a readable file at its temporary path', () => {
  const dir = folder();
  const [file, other] = [path.join(dir, 'secrets.json'), path.join(dir, 'other')];
  const inTheWay = `${file}.${process.pid}.tmp`;
  writeFileSync(other, 'what another has');
  symlinkSync(other, inTheWay);
  writeFileAtomic(file, 'first');
  expect([lstatSync(file).isFile(), readFileSync(other, 'utf8')]).toEqual([true, 'what another has']);
  writeFileSync(inTheWay, '', { mode: 0o666 });
  writeFileAtomic(file, 'second');
  expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual(['second', 0o600]);
});

test('defaults apply only to missing files and folders; other errors are thrown', async () => {
  const dir = folder();
  writeFileSync(path.join(dir, 'file'), 'text');
  await expect(ifThere(Promise.resolve('text'), null)).resolves.toBe('text');
  await expect(ifThere(readFile('/nowhere/at/all'), null)).resolves.toBeNull();
  await expect(ifThere(readFile('/'), null)).rejects.toMatchObject({ code: 'EISDIR' });
  expect([readIfThere(path.join(dir, 'file')), readIfThere(path.join(dir, 'none'))]).toEqual(['text', null]);
  expect(() => readIfThere(dir)).toThrow('EISDIR');
  expect([namesIn(dir), namesIn(path.join(dir, 'none'))]).toEqual([['file'], []]);
  expect(() => namesIn(path.join(dir, 'file'))).toThrow('ENOTDIR');
});

test('realPlace() resolves links, also if the end of the path does not exist', () => {
  const dir = realpathSync(folder());
  mkdirSync(path.join(dir, 'real'));
  symlinkSync(path.join(dir, 'real'), path.join(dir, 'link'));
  expect(realPlace(path.join(dir, 'link'))).toBe(path.join(dir, 'real'));
  expect(realPlace(path.join(dir, 'link', 'new', 'file'))).toBe(path.join(dir, 'real', 'new', 'file'));
});

test('syncFolder() rejects for a missing folder, syncFolderSync() ignores it', async () => {
  const dir = folder();
  await syncFolder(dir);
  syncFolderSync(dir);
  syncFolderSync(path.join(dir, 'none'));
  await expect(syncFolder(path.join(dir, 'none'))).rejects.toMatchObject({ code: 'ENOENT' });
});
