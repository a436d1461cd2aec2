import { chmodSync, mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { checkFolder, tidyPath } from './check-folder.ts';

let root: string;
let dataDir: string;
const at = (...parts: string[]) => path.join(root, ...parts);
const check = (folder: string) => checkFolder(folder, { dataDir });

beforeEach(() => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  root = realpathSync(folder.path);
  dataDir = at('home', '.svc');
  for (const dir of ['home/.svc/workspace', 'home/.svc/uploads/a', 'repo/sub', 'hömé ☕', 'home/.svc-other']) {
    mkdirSync(at(dir), { recursive: true });
  }
  writeFileSync(at('file'), '');
  symlinkSync(at('repo'), at('link'));
  symlinkSync(dataDir, at('to-data'));
  symlinkSync(at('home/.svc/uploads/a'), at('repo/deep'));
  symlinkSync(at('home'), at('to-home'));
  symlinkSync(at('round'), at('round'));
  symlinkSync(at('nowhere'), at('dangling'));
});

describe('folder accepted for turns', () => {
  test.each([
    ['a folder', 'repo', 'repo'],
    ['one with a slash at its end', 'repo/', 'repo'],
    ['one with slashes in a row', 'repo//sub', 'repo/sub'],
    ['one behind a link, by its real path', 'link/sub', 'repo/sub'],
    ['one with letters of any language', 'hömé ☕', 'hömé ☕'],
    ['a neighbour whose name begins like the data folder', 'home/.svc-other', 'home/.svc-other'],
  ])('is %s', async (_what, folder, real) => {
    expect(await check(`${root}/${folder}`)).toEqual({ ok: true, path: at(real) });
  });
});

describe('folder rejected for turns', () => {
  test.each([
    ['the data folder', 'home/.svc', "it lies in the service's data folder"],
    ['one in it', 'home/.svc/uploads/a', "it lies in the service's data folder"],
    ['its workspace, which needs no setting', 'home/.svc/workspace', "it lies in the service's data folder"],
    ['one around it', 'home', "the service's data folder lies in it"],
    ['one far around it', '', "the service's data folder lies in it"],
    ['a link to it', 'to-data', "it lies in the service's data folder"],
    ['a link into it', 'repo/deep', "it lies in the service's data folder"],
    ['a path through a link to it', 'to-data/uploads', "it lies in the service's data folder"],
    ['a link to one around it', 'to-home', "the service's data folder lies in it"],
    ['one that is not there', 'gone', 'it does not exist'],
    ['a link to nothing', 'dangling', 'it does not exist'],
    ['a file', 'file', 'it is not a folder'],
    ['one below a file', 'file/x', 'it is not a folder'],
    ['a link to itself', 'round', 'its symbolic links form a loop'],
    ['one with too long a name', 'x'.repeat(300), 'a name in its path is too long'],
    ['one with ".."', 'repo/../repo', 'its path has "." or ".." in it'],
    ['one with "."', './repo', 'its path has "." or ".." in it'],
    ['one with a line break', 'repo\n', 'its path has control characters'],
    ['one with a NUL', 'repo\0', 'its path has control characters'],
    ['one with a long path', 'a/'.repeat(3000), 'its path is longer than 4096 bytes'],
  ])('is %s', async (_what, folder, why) => {
    expect(await check(`${root}/${folder}`)).toEqual({ ok: false, why });
  });

  test.each(['', 'repo', './repo', '~/repo', 'C:\\repo', 'file:///srv'])('is rejected as the relative %j', async (folder) => {
    expect(await check(folder)).toEqual({ ok: false, why: 'it is not an absolute path' });
  });

  test.each(['/', '//', '///'])('is rejected as the root %j', async (folder) => {
    expect(await check(folder)).toEqual({ ok: false, why: 'it is the root of the file system' });
  });

  test('is rejected without read permission', async ({ skip }) => {
    skip(process.getuid?.() === 0, 'root can read everywhere');
    chmodSync(at('repo'), 0);
    expect(await check(at('repo'))).toEqual({ ok: false, why: 'the service may not read it' });
    chmodSync(at('repo'), 0o700);
  });

  test('is rejected in the data folder, even when that is given by a symlink', async () => {
    expect(await checkFolder(at('home/.svc/uploads'), { dataDir: at('to-data') })).toMatchObject({ ok: false });
    expect(await checkFolder(at('home'), { dataDir: at('to-data') })).toMatchObject({ ok: false });
  });
});

test('the shared workspace can be trusted, and nothing else in the data folder', async () => {
  const trust = (folder: string) => checkFolder(at(folder), { dataDir, orWorkspace: true });
  expect(await trust('home/.svc/workspace')).toEqual({ ok: true, path: at('home/.svc/workspace') });
  expect(await trust('to-data/workspace')).toEqual({ ok: true, path: at('home/.svc/workspace') });
  expect(await trust('home/.svc')).toMatchObject({ ok: false });
  expect(await trust('home/.svc/uploads')).toMatchObject({ ok: false });
  rmSync(at('home/.svc/workspace'), { recursive: true });
  expect(await trust('repo')).toEqual({ ok: true, path: at('repo') });
});

test('an accepted folder is a real path outside the data folder, for random paths', async () => {
  const part = fc.constantFrom(
    'home',
    '.svc',
    'repo',
    'link',
    'to-data',
    'to-home',
    'uploads',
    'deep',
    'sub',
    '..',
    '.',
    '',
    'file',
    'workspace',
  );
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 6 }), async (parts) => {
      const finding = await check([root, ...parts].join('/'));
      if (!finding.ok) return;
      expect(finding.path).toBe(realpathSync(finding.path));
      expect(`${finding.path}/`.startsWith(`${dataDir}/`)).toBe(false);
      expect(`${dataDir}/`.startsWith(`${finding.path}/`)).toBe(false);
    }),
    { numRuns: 150 },
  );
});

test('random text gives a finding and never throws', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 50 }), async (text) => {
      expect(await check(text)).toHaveProperty('ok');
      expect(await check(`/${text}`)).toHaveProperty('ok');
    }),
    { numRuns: 60 },
  );
});

test.each([
  ['/a/', '/a'],
  ['/a//b///', '/a/b'],
  ['//', '/'],
  ['/', '/'],
  ['/a b ', '/a b '],
])('%j is normalized to %j', (folder, kept) => expect(tidyPath(folder)).toBe(kept));
