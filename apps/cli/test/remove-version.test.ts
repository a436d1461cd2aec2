import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { isWhole, removeFolder } from '../src/update/version-folder.ts';

/** For some time creates its cache folder when it is missing, as each Node process does, and writes into it. */
const writer = `
  const { mkdirSync, writeFileSync } = require('node:fs');
  const end = Date.now() + 700;
  for (let n = 0; Date.now() < end; n += 1) {
    try {
      mkdirSync(process.argv[1], { recursive: true });
      writeFileSync(process.argv[1] + '/' + n, '');
    } catch {} // the folder has just been removed
    if (n === 100) process.stdout.write('writes');
  }`;

test('a version is removed although processes of it still write into its folder', async () => {
  const temporary = temporaryFolder();
  onTestFinished(temporary.remove);
  const folder = path.join(temporary.path, 'version');
  mkdirSync(folder);
  writeFileSync(path.join(folder, '.svc-whole'), '');
  // Long enough for the other process to get its turn.
  for (let n = 0; n < 5000; n += 1) writeFileSync(path.join(folder, `${n}`), '');
  const child = spawn(process.execPath, ['-e', writer, path.join(folder, '.cache/node')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  expect(() => removeFolder(folder)).not.toThrow();
  expect(isWhole(folder)).toBe(false);
});
