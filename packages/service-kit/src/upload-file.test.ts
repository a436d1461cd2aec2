import { linkSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { findUpload } from './upload-file.ts';

let root: string;
let area: string;

beforeEach(() => {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  root = realpathSync(folder.path);
  area = path.join(root, 'uploads');
  for (const dir of ['uploads/2026-11-22', 'uploads/.staging/upl_1', 'uploads-not', 'private']) {
    mkdirSync(path.join(root, dir), { recursive: true });
  }
  for (const file of [
    'uploads/2026-11-22/a.png',
    'uploads/manifest.jsonl',
    'uploads/.staging/upl_1/data',
    'uploads-not/x',
    'private/key',
  ]) {
    writeFileSync(path.join(root, file), 'text');
  }
  symlinkSync(path.join(root, 'private/key'), path.join(area, '2026-11-22/link.png'));
  symlinkSync(path.join(area, '2026-11-22/a.png'), path.join(area, '2026-11-22/inner.png'));
  symlinkSync(path.join(root, 'private'), path.join(area, '2026-11-23'));
  symlinkSync('loop', path.join(area, '2026-11-22/loop'));
  symlinkSync(area, path.join(root, 'linked'));
});

test('finds a finished upload, also in a linked area and through a hard link', () => {
  const file = path.join(area, '2026-11-22/a.png');
  linkSync(file, path.join(area, '2026-11-22/b.png'));
  expect(findUpload(area, file)).toMatchObject({ path: file, relative: '2026-11-22/a.png', bytes: 4 });
  expect(findUpload(area, path.join(area, '2026-11-22/b.png'))).toMatchObject({ bytes: 4 });
  expect(findUpload(path.join(root, 'linked'), path.join(root, 'linked/2026-11-22/a.png'))).toMatchObject({ path: file });
});

test.each([
  ['manifest.jsonl', 'outside'],
  ['.staging/upl_1/data', 'outside'],
  ['2026-11-22/../.staging/upl_1/data', 'outside'],
  ['2026-11-22/link.png', 'outside'],
  ['2026-11-22/inner.png', 'outside'],
  ['2026-11-23/key', 'outside'],
  ['../private/key', 'outside'],
  ['../uploads-not/x', 'outside'],
  ['../uploads/../private/key', 'outside'],
  ['.', 'outside'],
  ['2026-11-22', 'not_a_file'],
  ['2026-11-22/gone.png', 'missing'],
  ['2026-11-22/a.png/x', 'missing'],
  ['2026-11-22/loop', 'outside'],
  ['2026-11-22/loop/x', 'missing'],
  [`2026-11-22/${'x'.repeat(5000)}`, 'missing'],
  ['2026-11-22/a.png\0', 'outside'],
])('%s is %s', (name, fault) => {
  expect(findUpload(area, `${area}/${name}`)).toBe(fault);
});

test.each(['2026-11-22/a.png', '', 'file:///etc/passwd', '/etc/passwd', '//127.0.0.1/share', '~/x'])(
  'reports %j as outside',
  (file) => {
    expect(findUpload(area, file)).toBe('outside');
  },
);

test('finds no upload when the area does not exist', () => {
  const none = path.join(root, 'none');
  expect([findUpload(none, path.join(none, 'a.png')), findUpload(none, path.join(area, '2026-11-22/a.png'))]).toEqual([
    'missing',
    'outside',
  ]);
});
