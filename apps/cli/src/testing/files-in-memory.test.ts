import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { filesInMemory } from './files-in-memory.ts';

const room = 64 * 2 ** 30;
const noEngines = { SVC_TEST_ENGINES: '/nowhere' };
let shared: TemporaryFolder;
beforeEach(() => (shared = temporaryFolder()));
afterEach(() => shared.remove());

test('filesInMemory() creates a folder and removes it with its contents', () => {
  const files = filesInMemory(noEngines, { shared: shared.path, availableBytes: room });
  expect(path.dirname(files?.path ?? '')).toBe(shared.path);
  writeFileSync(path.join(files?.path ?? '', 'left'), '');
  files?.remove();
  expect(existsSync(files?.path ?? '')).toBe(false);
});

test('filesInMemory() returns null without space or a shared folder, with real engines or with TMPDIR set', () => {
  const machine = { shared: shared.path, availableBytes: room };
  expect(filesInMemory(noEngines, { ...machine, availableBytes: 2 ** 30 })).toBeNull();
  expect(filesInMemory(noEngines, { ...machine, shared: path.join(shared.path, 'none') })).toBeNull();
  expect(filesInMemory({ SVC_TEST_ENGINES: shared.path }, machine)).toBeNull();
  expect(filesInMemory({ ...noEngines, TMPDIR: '/tmp' }, machine)).toBeNull();
});

test('filesInMemory() removes folders of killed runs, but not of running ones', () => {
  const { pid: ended } = spawnSync('true');
  const [left, used, foreign] = [`svc-test-files-${ended}-a`, `svc-test-files-${process.ppid}-b`, 'other'].map((name) =>
    path.join(shared.path, name),
  ) as [string, string, string];
  for (const folder of [left, used, foreign]) mkdirSync(path.join(folder, 'in it'), { recursive: true });
  filesInMemory(noEngines, { shared: shared.path, availableBytes: 0 });
  expect([left, used, foreign].map((folder) => existsSync(folder))).toEqual([false, true, true]);
});
