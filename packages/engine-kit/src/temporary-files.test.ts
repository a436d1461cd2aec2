import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';
import { createTemporaryFiles, sweep, temporaryDir } from './temporary-files.ts';

function open() {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const dir = temporaryDir(folder.path);
  const outside = path.join(folder.path, 'outside');
  mkdirSync(path.join(dir, 'build/deep'), { recursive: true });
  mkdirSync(outside);
  for (const file of [`${dir}/a`, `${dir}/build/deep/b`, `${outside}/kept`]) writeFileSync(file, 'x');
  symlinkSync(outside, path.join(dir, 'link'));
  const there = () => ['a', 'build/deep/b', 'build', 'link'].filter((name) => existsSync(path.join(dir, name)));
  return { dir, there, stateDir: folder.path, outside };
}

test('removes old files and empty folders, and nothing behind a link', async () => {
  const { dir, there, outside } = open();
  await sweep(dir, Date.now() - 60_000);
  expect(there()).toEqual(['a', 'build/deep/b', 'build', 'link']);
  // Its change made the folder new.
  for (let round = 0; round < 3; round++) await sweep(dir, Date.now() + 60_000);
  expect(there()).toEqual([]);
  expect(existsSync(path.join(outside, 'kept'))).toBe(true);
});

test('keeps the files of the last days, and accepts a missing folder', async () => {
  const { there, stateDir } = open();
  const faults: unknown[] = [];
  const log = { debug() {}, info() {}, warn: (fields: object) => void faults.push(fields) };
  createTemporaryFiles({ stateDir, log }).sweepSoon();
  createTemporaryFiles({ stateDir: path.join(stateDir, 'none'), log }).sweepSoon();
  await sweep(path.join(stateDir, 'none'), 0);
  expect([there().length, faults]).toEqual([4, []]);
});
