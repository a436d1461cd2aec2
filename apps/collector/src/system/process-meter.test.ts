import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';
import { lookAtProc } from './process-meter.ts';

test('the memory of a process does not hang on the size of pages, nor its times on its name', async () => {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const dir = path.join(folder.path, '7');
  mkdirSync(dir);
  const numbers = Array.from({ length: 40 }, (_, i) => i);
  numbers[10] = 150; // user time
  numbers[11] = 50; // system time
  numbers[20] = 100; // pages, of 16 KiB here
  writeFileSync(path.join(dir, 'stat'), `7 (a ) name) S ${numbers.join(' ')}`);
  writeFileSync(path.join(dir, 'status'), 'Name:\ta ) name\nVmHWM:\t    9999 kB\nVmRSS:\t    1600 kB\n');
  expect(await lookAtProc(7, folder.path)).toEqual({ cpuMs: 2000, memoryBytes: 1_638_400 });
});
