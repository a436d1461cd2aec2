import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { managerOf } from './managed.ts';

let folder: TemporaryFolder;
beforeEach(() => void (folder = temporaryFolder()));
afterEach(() => folder.remove());

test('a clone is its own, a folder without git is an archive', () => {
  expect(managerOf(folder.path, null)).toBe('archive');
  mkdirSync(path.join(folder.path, '.git'));
  expect(managerOf(folder.path, null)).toBeNull();
});

test('the setting wins over the file, and the file over git', () => {
  mkdirSync(path.join(folder.path, '.git'));
  writeFileSync(path.join(folder.path, '.managed'), 'apt\nmore\n');
  expect(managerOf(folder.path, null)).toBe('apt');
  expect(managerOf(folder.path, 'nix')).toBe('nix');
  writeFileSync(path.join(folder.path, '.managed'), '');
  expect(managerOf(folder.path, null)).toBe('another program');
});
