import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { restoreAdvice } from '@svc/service-kit/restore/restore-advice.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';

test('names the newest finished backup, or a placeholder if there is none', () => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  expect(restoreAdvice(folder.path)).toContain('./svc backup restore FILE');
  const backups = path.join(folder.path, 'backups');
  mkdirSync(backups);
  const files = ['bak_1k7.tar.gz', 'bak_1k8.tar.gz', 'bak_1k9.tar.gz.part', 'bak_1k9.json', '.bak_2', 'other.tar.gz'];
  for (const file of files) writeFileSync(path.join(backups, file), '');
  expect(restoreAdvice(folder.path)).toContain('./svc backup restore bak_1k8 ');
});

test('ignores a backup dated years in the future', () => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const backups = path.join(folder.path, 'backups');
  mkdirSync(backups);
  const idAt = (time: number) => `bak_${time.toString(32).padStart(9, '0')}00abcdefgh`;
  const [right, ahead] = [idAt(Date.now()), idAt(Date.now() + 3 * 365 * 86_400_000)];
  for (const id of [right, ahead]) writeFileSync(path.join(backups, `${id}.tar.gz`), '');
  expect(restoreAdvice(folder.path)).toContain(`./svc backup restore ${right} `);
});

test('on a full disk, asks to free space and names no backup', () => {
  expect(restoreAdvice('/data', 64 * 1024)).toBe('The disk of /data is full. Free some space on it');
});
