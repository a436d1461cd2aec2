import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { archivesOf, managerOf } from './managed.ts';
import { releaseFile } from './release-info.ts';

let folder: TemporaryFolder;
beforeEach(() => void (folder = temporaryFolder()));
afterEach(() => folder.remove());

const unset = { updateManaged: null, updateArchives: null };
const from = 'https://example.org/releases';

test('an archive with an address updates itself, and a clone uses its remote', () => {
  expect(managerOf(folder.path, { ...unset, updateArchives: from })).toBeNull();
  const info = { version: '1.0.0', commit: 'a'.repeat(40), platform: 'linux-x64', archives: 'https://example.org/own' };
  writeFileSync(path.join(folder.path, releaseFile), JSON.stringify(info));
  expect(managerOf(folder.path, unset)).toBeNull();
  expect([archivesOf(folder.path, from), archivesOf(folder.path, null)]).toEqual([from, info.archives]);
  mkdirSync(path.join(folder.path, '.git'));
  expect(archivesOf(folder.path, from)).toBeNull();
});

test('a clone updates itself, a folder without git is an archive', () => {
  expect(managerOf(folder.path, unset)).toBe('archive');
  mkdirSync(path.join(folder.path, '.git'));
  expect(managerOf(folder.path, unset)).toBeNull();
});

test('the setting overrides the file, and the file overrides git', () => {
  mkdirSync(path.join(folder.path, '.git'));
  writeFileSync(path.join(folder.path, '.managed'), 'apt\nmore\n');
  expect(managerOf(folder.path, unset)).toBe('apt');
  expect(managerOf(folder.path, { ...unset, updateManaged: 'nix' })).toBe('nix');
  writeFileSync(path.join(folder.path, '.managed'), '');
  expect(managerOf(folder.path, unset)).toBe('another program');
});
